import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  composeLogger,
  composeRuntime,
  openForAppending,
  openForFollowing,
  openForReading,
} from '../../../src/cli/compose.ts';
import { ANY_NAME, formatPath, keysOf } from '../../../src/config/config-key.ts';
import { appOf, type Config, type FlagValue, loadConfig } from '../../../src/config/load.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { Secret } from '../../../src/config/secret.ts';
import { subscriptionSettings } from '../../../src/config/subscription-settings.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { memoryTerminal } from '../../support/memory-terminal.ts';

/** The same values, which note what is read of them. */
function watched<T extends object>(values: T, read: Set<string>, path: readonly string[] = []): T {
  // A copy, since a proxy must show a frozen object's members as they are.
  return new Proxy(
    { ...values },
    {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        const at = [...path, String(name)];
        read.add(formatPath(at));
        const isSection = typeof value === 'object' && value !== null && !(value instanceof Secret);
        return isSection && !Array.isArray(value) ? watched(value, read, at) : value;
      },
    },
  );
}

const subscription = 'OrderProjection.onEvent';
const examples = ['1', '1s', '1KiB', 'end'];

const runtime = composeRuntime(silentLogger);
const unreachable = 'mongodb://127.0.0.1:1/?replicaSet=rs0';
const set = (key: string, value: string): FlagValue => ({ key, value, flag: '--set' });

/** A config in which every setting of a subscription is given. */
async function fullConfig(file: string, more: readonly FlagValue[]): Promise<Config> {
  const flags = [set('app', 'app.ts'), set('embedded.file', file), ...more];
  for (const { path, schema } of keysOf(configSchema)) {
    if (!path.includes(ANY_NAME)) continue;
    const example = examples.find((text) => (schema as typeof configSchema.shape.drain).safeParse(text).success);
    flags.push(set(formatPath(path).replace(ANY_NAME, subscription), example ?? ''));
  }
  return loadConfig({ file: undefined, environment: {}, flags, folder: '/' });
}

const servers = (pem: string): readonly FlagValue[] => [
  set('log.kind', 'kafka'),
  set('log.brokers', '127.0.0.1:1'),
  set('log.tls.enabled', 'true'),
  ...['ca', 'cert', 'key'].map((name) => set(`log.tls.${name}`, pem)),
  set('log.sasl.mechanism', 'plain'),
  set('log.sasl.username', 'me'),
  set('log.sasl.password', 'secret'),
  set('store.kind', 'mongodb'),
  set('store.url', unreachable),
  set('store.database', 'shop'),
];

describe('the stores of a config', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tidemark-compose-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  test('read every setting that is theirs', async () => {
    const pem = join(folder, 'a.pem');
    await writeFile(pem, 'PEM');
    const read = new Set<string>();
    for (const more of [[], servers(pem)]) {
      const config = await fullConfig(join(folder, 'a.db'), more);
      const values = watched(config.values, read);
      appOf({ ...config, values });
      composeLogger(values, memoryTerminal().terminal);
      // Nobody answers: the settings are read before that shows.
      const signal = more.length === 0 ? new AbortController().signal : AbortSignal.abort();
      const following = openForFollowing(values, { runtime, signal, service: 'shop' });
      await following.then((opened) => opened[Symbol.asyncDispose]()).catch(() => undefined);
      await using _ = await openForAppending(values, { runtime, newTopicPartitions: undefined });
      subscriptionSettings(values, subscription);
      subscriptionSettings(values, 'Other.onEvent');
    }
    const keys = keysOf(configSchema).map(({ path }) => formatPath(path).replace(ANY_NAME, subscription));
    // How long a stop may take is measured on a real process, in the end-to-end tests.
    expect(keys.filter((key) => !read.has(key))).toEqual(['drain']);
  });

  test('are those of the file for whoever reads, follows and appends', async () => {
    const { values } = await fullConfig(join(folder, 'a.db'), []);
    const { signal } = new AbortController();
    await using following = await openForFollowing(values, { runtime, signal, service: 'shop' });
    await using reading = await openForReading(values, runtime);
    await using _ = await openForAppending(values, { runtime, newTopicPartitions: undefined });
    for (const { stores, kafka, mongo } of [following, reading]) {
      expect([await stores.checkpoints.list(), kafka, mongo]).toEqual([[], undefined, undefined]);
    }
  });

  test('may be a log on Kafka beside stores in the file', async () => {
    const more = [set('log.kind', 'kafka'), set('log.brokers', '127.0.0.1:1')];
    const { values } = await fullConfig(join(folder, 'a.db'), more);
    const { signal } = new AbortController();
    await using opened = await openForFollowing(values, { runtime, signal, service: 'shop' });
    expect(opened.kafka?.log).toBe(opened.stores.log);
    expect(await opened.stores.checkpoints.list()).toEqual([]);
  });

  test('name a file of TLS that cannot be read, by its setting', async () => {
    const { values } = await fullConfig(join(folder, 'a.db'), servers(join(folder, 'missing.pem')));
    await expect(openForAppending(values, { runtime, newTopicPartitions: undefined })).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
      details: { setting: 'log.tls.ca', file: join(folder, 'missing.pem') },
    });
  });
});

test('logs go to the error stream: as JSON, or for people on a terminal', async () => {
  const { values } = await loadConfig({ file: undefined, environment: {}, flags: [], folder: '/' });
  for (const isTTY of [false, true]) {
    const { terminal, output, error } = memoryTerminal({ isTTY });
    composeLogger(values, terminal).info('It follows.');
    expect(output.text).toBe('');
    expect(error.text.startsWith('{"level":"info"')).toBe(!isTTY);
    expect(error.text).toContain('It follows.');
  }
});
