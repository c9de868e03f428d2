import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { composeLogger, openForAppending, openForFollowing, openForReading } from '../../../src/cli/compose.ts';
import { ANY_NAME, formatPath, keysOf } from '../../../src/config/config-key.ts';
import { appOf, type Config, type FlagValue, loadConfig } from '../../../src/config/load.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { subscriptionSettings } from '../../../src/config/subscription-settings.ts';
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
        return typeof value === 'object' && value !== null ? watched(value, read, at) : value;
      },
    },
  );
}

const subscription = 'OrderProjection.onEvent';
const examples = ['1', '1s', '1KiB', 'end'];

/** A config in which every setting of a subscription is given. */
async function fullConfig(file: string): Promise<Config> {
  const flag = (key: string, value: string): FlagValue => ({ key, value, flag: '--set' });
  const flags = [flag('app', 'app.ts'), flag('embedded.file', file)];
  for (const { path, schema } of keysOf(configSchema)) {
    if (!path.includes(ANY_NAME)) continue;
    const example = examples.find((text) => (schema as typeof configSchema.shape.drain).safeParse(text).success);
    flags.push(flag(formatPath(path).replace(ANY_NAME, subscription), example ?? ''));
  }
  return loadConfig({ file: undefined, environment: {}, flags, folder: '/' });
}

test('every setting is read by what it is for', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-compose-'));
  try {
    const config = await fullConfig(join(folder, 'a.db'));
    const read = new Set<string>();
    const values = watched(config.values, read);
    appOf({ ...config, values });
    composeLogger(values, memoryTerminal().terminal);
    for (const open of [openForFollowing, openForAppending, openForReading]) {
      const opened = await open(values);
      await opened[Symbol.asyncDispose]();
    }
    subscriptionSettings(values, subscription);
    subscriptionSettings(values, 'Other.onEvent');
    const keys = keysOf(configSchema).map(({ path }) => formatPath(path).replace(ANY_NAME, subscription));
    // How long a stop may take is measured on a real process, in the end-to-end tests.
    expect(keys.filter((key) => !read.has(key))).toEqual(['drain']);
  } finally {
    await rm(folder, { recursive: true });
  }
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
