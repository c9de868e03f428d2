import { hostname } from 'node:os';
import { pid } from 'node:process';
import {
  type AppendOptions,
  type AppendResult,
  type EmbeddedOptions,
  openEmbedded,
} from '../adapters/embedded/index.ts';
import { nodeRuntime } from '../adapters/node/node-runtime.ts';
import { pinoLogger } from '../adapters/node/pino-logger.ts';
import { uuidIds } from '../adapters/node/uuid-ids.ts';
import type { ConfigValues } from '../config/schema.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Stores } from '../subscriptions/stores.ts';
import type { Terminal } from './screen/terminal.ts';

/** Stores that are open, and closed by whoever opened them. */
export type Opened = AsyncDisposable & { readonly stores: Stores };

/** A log that takes commits. */
export type Appendable = AsyncDisposable & {
  append(lines: AsyncIterable<string>, options: AppendOptions): Promise<AppendResult>;
};

type Role = 'follower' | 'appender' | 'reader';

/** For one worker process, which is alone on an embedded file. Throws `FILE_HELD` beside another one. */
export function openForFollowing(config: ConfigValues): Promise<Opened> {
  return openStores(config, 'follower');
}

/** For commands that look. What is not there is not made. */
export function openForReading(config: ConfigValues): Promise<Opened> {
  return openStores(config, 'reader');
}

/** For `append`, also beside a worker that runs. */
export function openForAppending(config: ConfigValues): Promise<Appendable> {
  return appendables[config.log.kind](config);
}

const appendables: Readonly<Record<ConfigValues['log']['kind'], (config: ConfigValues) => Promise<Appendable>>> = {
  embedded: (config) => openEmbedded(embeddedOptions(config, 'appender')),
};

function embeddedOptions({ embedded }: ConfigValues, role: Role): EmbeddedOptions {
  return { file: embedded.file, partitions: embedded.partitions, role };
}

type OpenStores = (config: ConfigValues, role: Role) => Promise<Opened>;

/** By kind of log, then by kind of store. */
const openers: Readonly<
  Record<ConfigValues['log']['kind'], Readonly<Record<ConfigValues['store']['kind'], OpenStores>>>
> = {
  embedded: {
    async embedded(config, role) {
      const file = await openEmbedded(embeddedOptions(config, role));
      return { stores: file, [Symbol.asyncDispose]: () => file.close() };
    },
  },
};

function openStores(config: ConfigValues, role: Role): Promise<Opened> {
  return openers[config.log.kind][config.store.kind](config, role);
}

/** Logs go to the error stream: standard output is for data. */
export function composeLogger({ logs }: ConfigValues, terminal: Terminal): Logger {
  const isPretty = logs.format === 'pretty' || (logs.format === 'auto' && terminal.isErrorTty);
  return pinoLogger({
    level: logs.level,
    format: isPretty ? 'pretty' : 'json',
    isColored: terminal.isColored,
    destination: { write: (line) => terminal.writeError(line) },
  });
}

export function composeRuntime(logger: Logger): Runtime {
  return nodeRuntime(logger);
}

/** Names this process in claims. */
export function ownerName(): string {
  return `${hostname()}:${pid}:${uuidIds.next()}`;
}
