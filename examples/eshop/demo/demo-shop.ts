import { cwd, env } from 'node:process';
import type { Runtime, Stores, SubscriptionSettings } from 'tidemark';
import { openForAppending, openForFollowing } from '../../../src/cli/compose.ts';
import { type Config, loadConfig } from '../../../src/config/load.ts';
import { subscriptionSettings } from '../../../src/config/subscription-settings.ts';
import shop from '../worker.ts';
import { removeFile } from './demo-file.ts';

/** Partitions of the shop's topics where they are made on Kafka. */
const PARTITIONS = 4;
/** A server that does not answer within is not there: the demo waits for none. */
const CONNECT_MS = 10_000;

/** The stores of the demo, and the log that it fills. */
export type DemoShop = AsyncDisposable & {
  readonly stores: Stores;
  readonly append: (lines: Iterable<string>) => Promise<{ readonly appended: number }>;
  readonly settings: (subscription: string) => SubscriptionSettings;
  /** Where the log is, as people call it. */
  readonly place: string;
};

export type DemoOptions = {
  /** `undefined`: the embedded file. */
  readonly config: string | undefined;
  readonly isFresh: boolean;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
};

/** The demo is configured as every worker is: by a file, and by variables over it. */
export async function openDemoShop({ config: file, isFresh, runtime, signal }: DemoOptions): Promise<DemoShop> {
  const config = await loadConfig({ file, environment: env, flags: [], folder: cwd() });
  const { values } = config;
  if (isFresh && values.log.kind === 'embedded') await removeFile(values.embedded.file);
  await using open = new AsyncDisposableStack();
  const options = { runtime, signal, service: shop.context, connectMaxMs: CONNECT_MS };
  const { stores } = open.use(await openForFollowing(values, options));
  const log = open.use(await openForAppending(values, { runtime, newTopicPartitions: PARTITIONS }));
  const kept = open.move();
  return {
    stores,
    append: (lines) => log.append(eachOf(lines), {}),
    settings: (subscription) => subscriptionSettings(values, subscription),
    place: placeOf(config),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function placeOf({ values: { log, embedded } }: Config): string {
  return log.kind === 'embedded' ? embedded.file : `Kafka at ${log.brokers?.join(',') ?? ''}`;
}

async function* eachOf(lines: Iterable<string>): AsyncGenerator<string> {
  yield* lines;
}
