import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError, formatProblem } from '../../../src/config/config-error.ts';
import {
  appOf,
  type Config,
  type ConfigSources,
  checkSubscriptionNames,
  loadConfig,
} from '../../../src/config/load.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { subscriptionSettings } from '../../../src/config/subscription-settings.ts';
import { defaultSettings } from '../../../src/subscriptions/settings.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-config-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function load(yaml: string | undefined, more: Partial<ConfigSources> = {}): Promise<Config> {
  const file = join(folder, 'conf.yaml');
  if (yaml !== undefined) await writeFile(file, yaml);
  return loadConfig({
    file: yaml === undefined ? undefined : file,
    environment: {},
    flags: [],
    folder: '/here',
    ...more,
  });
}

async function problems(yaml: string | undefined, more: Partial<ConfigSources> = {}): Promise<readonly string[]> {
  return load(yaml, more).then(
    () => [],
    (error: unknown) => {
      if (error instanceof ConfigError) return error.problems.map(formatProblem);
      throw error;
    },
  );
}

const set = (key: string, value: string) => ({ key, value, flag: '--set' });

describe('a config', () => {
  test('without any source has the defaults', async () => {
    const { values } = await load(undefined);
    expect(values).toMatchObject({
      log: { kind: 'embedded' },
      store: { kind: 'embedded' },
      embedded: { file: '/here/data/tidemark.db', partitions: 4 },
      drain: 30_000,
      logs: { level: 'info', format: 'auto' },
      subscriptions: {},
    });
    expect(subscriptionSettings(values, 'A.b')).toEqual(defaultSettings);
  });

  test('takes variables over the file and flags over variables', async () => {
    const yaml = 'defaults: { batch: { records: 1, bytes: 1MiB, wait: 1s } }';
    const environment = { TIDEMARK_DEFAULTS_BATCH_RECORDS: '2', TIDEMARK_DEFAULTS_BATCH_BYTES: '2MiB' };
    const { values } = await load(yaml, { environment, flags: [set('defaults.batch.records', '3')] });
    expect(values.defaults.batch).toEqual({ records: 3, bytes: 2 * 2 ** 20, wait: 1_000, gather: 5_000 });
  });

  test('cannot be changed', async () => {
    const { values } = await load('subscriptions: { A.b: { start: end } }');
    expect(() => Object.assign(values.defaults.batch, { records: 1 })).toThrow(TypeError);
    expect(() => Object.assign(values.subscriptions['A.b'] ?? {}, { start: 'beginning' })).toThrow(TypeError);
  });

  test('takes the app relative to its file, but relative to the current folder from elsewhere', async () => {
    expect(appOf(await load('app: ./app/worker.ts'))).toBe(join(folder, 'app/worker.ts'));
    expect(appOf(await load('app: x.ts', { environment: { TIDEMARK_APP: './w.ts' } }))).toBe('/here/w.ts');
    expect(appOf(await load('app: x.ts', { flags: [set('app', 'w.ts')] }))).toBe('/here/w.ts');
    expect(appOf(await load('app: /absolute/w.ts'))).toBe('/absolute/w.ts');
  });

  test('takes the embedded file relative to the current folder', async () => {
    const { values } = await load('embedded: { file: a.db }');
    expect(values.embedded.file).toBe('/here/a.db');
  });

  test('says so when the app is needed and missing', async () => {
    const config = await load('drain: 1s');
    expect(() => appOf(config)).toThrow(
      'app: expected the path of a module that exports a worker, got nothing (conf.yaml)',
    );
  });

  test('says so when its file is not there', async () => {
    await expect(load(undefined, { file: 'no-such.yaml' })).rejects.toMatchObject({ code: 'CONFIG_UNREADABLE' });
  });

  test('may be empty, and so may its sections', async () => {
    expect(await problems('')).toEqual([]);
    expect(await problems('# nothing\n')).toEqual([]);
    expect(await problems('defaults:\n  # batch: {}\nlogs:\nsubscriptions:\n')).toEqual([]);
  });
});

describe('a config for servers', () => {
  const kafka = "log: { kind: kafka, brokers: ['a:9092', 'b:9092'] }";

  test('has brokers as a list or parted by commas, and what it says nothing of by default', async () => {
    const { values } = await load(kafka);
    expect(values.log).toMatchObject({ brokers: ['a:9092', 'b:9092'], clientId: 'tidemark', sessionTimeout: 30_000 });
    const { log } = (await load(kafka, { environment: { TIDEMARK_LOG_BROKERS: 'c:1, d:2' } })).values;
    expect(log.brokers).toEqual(['c:1', 'd:2']);
  });

  test('has no subscription named __proto__, wherever it is written', async () => {
    const problem = 'expected another name than __proto__, got a name that nothing can have';
    expect(await problems(undefined, { flags: [set('subscriptions.__proto__.start', 'end')] })).toEqual([
      `subscriptions.__proto__.start: ${problem} (--set)`,
    ]);
    expect(await problems('subscriptions:\n  __proto__:\n    start: end\n    batch: { records: 0 }')).toEqual([
      `subscriptions.__proto__.start: ${problem} (conf.yaml:3)`,
      `subscriptions.__proto__.batch.records: ${problem} (conf.yaml:4)`,
    ]);
    expect(await problems('subscriptions: { __proto__: }\ndrain: x')).toEqual([
      `subscriptions.__proto__: ${problem} (conf.yaml:1)`,
      expect.stringMatching(/^drain: /),
    ]);
  });

  test.each([
    ['[]', '[]'],
    ['[a]', '["a"]'],
    ['"a:99999"', '"a:99999"'],
    ['["a:1", 5]', '["a:1", 5]'],
    ['"http://a:1"', '"http://a:1"'],
    ['"a:1,,b:2"', '"a:1,,b:2"'],
  ])('takes no brokers %s', async (brokers, got) => {
    expect(await problems(`log: { kind: kafka, brokers: ${brokers} }`)).toEqual([
      `log.brokers: expected host:port of one broker or more, got ${got} (conf.yaml:1)`,
    ]);
  });

  test('replaces variables in a list as well, which may bring several brokers', async () => {
    const yaml = 'log: { kind: kafka, brokers: ["${ONE:a:1}", "${MORE}"] }';
    const { values } = await load(yaml, { environment: { MORE: '[::1]:2,c.d:3' } });
    expect(values.log.brokers).toEqual(['a:1', '[::1]:2', 'c.d:3']);
    expect(await problems(yaml)).toEqual([
      'log.brokers: expected the variable MORE to be set, got nothing (conf.yaml:1)',
    ]);
  });

  test('says what is missing for its kinds', async () => {
    const yaml = 'log: { kind: kafka, sasl: { mechanism: plain } }\nstore: { kind: mongodb }';
    expect((await problems(yaml)).toSorted()).toEqual([
      'log.brokers: expected host:port of one broker or more, got nothing',
      'log.sasl.password: expected a secret text, got nothing',
      'log.sasl.username: expected a name, got nothing',
      'store.database: expected a name, got nothing',
      'store.url: expected a URL that starts with mongodb:// or mongodb+srv://, got nothing',
    ]);
  });

  test('never shows user, password or URL where they are wrong', async () => {
    const yaml =
      'log: { sasl: { password: [1] } }\nstore: { kind: mongodb, url: "postgres://me:geheim@x", database: d }';
    const found = await problems(yaml);
    expect(found).toHaveLength(2);
    expect(found.join()).not.toMatch(/geheim|me:/);
  });

  test('takes files of TLS relative to the current folder', async () => {
    const { values } = await load(kafka, { flags: [set('log.tls.ca', 'ca.pem'), set('log.tls.key', '/k.pem')] });
    expect(values.log.tls).toEqual({ enabled: false, ca: '/here/ca.pem', key: '/k.pem' });
  });

  test('has smaller transactions in MongoDB, unless it says otherwise', async () => {
    const yaml = 'store: { kind: mongodb, url: "mongodb://a", database: d }';
    const { values } = await load(yaml);
    expect(subscriptionSettings(values, 'A.b').transaction.behindDocuments).toBe(1_000);
    const own = await load(yaml, { flags: [set('defaults.transaction.behindDocuments', '7')] });
    expect(subscriptionSettings(own.values, 'A.b').transaction.behindDocuments).toBe(7);
  });
});

describe('problems of a config', () => {
  test('are reported all at once, whatever their source', async () => {
    const yaml = ['app: 5', 'drain: 30', 'embedded:', '  partitions: 0', 'logs: { level: loud }'].join('\n');
    const found = await problems(yaml, {
      environment: { TIDEMARK_DEFAULTS_BATCH_BYTES: '8MB', TIDEMARK_EMBEDED_FILE: 'x' },
      flags: [set('log.kind', 'kafkka'), set('defaults.parked.perAgregate', '1')],
    });
    expect(found.toSorted()).toEqual([
      'TIDEMARK_EMBEDED_FILE: expected the name of a setting (nearest: TIDEMARK_EMBEDDED_FILE), got an unknown variable (TIDEMARK_EMBEDED_FILE)',
      'app: expected the path of a module that exports a worker, got 5 (conf.yaml:1)',
      'defaults.batch.bytes: expected a size with its unit, such as 512KiB or 8MiB, got "8MB" (TIDEMARK_DEFAULTS_BATCH_BYTES)',
      'defaults.parked.perAgregate: expected a known key (nearest: defaults.parked.perAggregate), got an unknown key (--set)',
      'drain: expected a duration with its unit, such as 20ms, 30s or 5m, got 30 (conf.yaml:2)',
      'embedded.partitions: expected an integer from 1 to 1000, got 0 (conf.yaml:4)',
      'log.kind: expected one of embedded, kafka, got "kafkka" (--set)',
      'logs.level: expected one of debug, info, warn, error, silent, got "loud" (conf.yaml:5)',
    ]);
  });

  test('name the nearest key for an unknown one, on every level', async () => {
    expect(await problems('embeded: { file: a }\ndefaults: { batch: { recrods: 1 } }\nzzzzz: 1')).toEqual([
      'defaults.batch.recrods: expected a known key (nearest: records), got an unknown key (conf.yaml:2)',
      'embeded: expected a known key (nearest: embedded), got an unknown key (conf.yaml:1)',
      `zzzzz: expected a known key (${Object.keys(configSchema.shape).join(', ')}), got an unknown key (conf.yaml:3)`,
    ]);
  });

  test('name a value that stands in place of a section, and a section in place of a value', async () => {
    expect(
      await problems('defaults: 5\ndrain: { a: 1 }\nsubscriptions: [a]', {
        flags: [set('defaults.batch.records', '1')],
      }),
    ).toEqual([
      'defaults: expected a section with keys, got 5 (conf.yaml:1)',
      'subscriptions: expected a section with keys, got ["a"] (conf.yaml:3)',
      'drain: expected a duration with its unit, such as 20ms, 30s or 5m, got a section (conf.yaml:2)',
    ]);
  });

  test('name the line of what is no YAML', async () => {
    const [problem] = await problems('app: a\nlogs: {level: info\n');
    expect(problem).toMatch(/^file: expected YAML, got .+ \(conf\.yaml:3\)$/);
    expect(await problems('drain: 1s\ndrain: 2s')).toEqual([expect.stringMatching(/unique.*conf\.yaml:2/i)]);
  });

  test('include keys that would reach prototypes', async () => {
    expect(await problems('__proto__: { drain: 1s }\nconstructor: 1')).toEqual([
      expect.stringMatching(/^__proto__: expected a known key/),
      expect.stringMatching(/^constructor: expected a known key/),
    ]);
    expect(await problems(undefined, { flags: [set('__proto__.a', '1'), set('toString', '1')] })).toHaveLength(2);
  });

  test.each(['2026-11-01', '2026-11-01T00:00:00', 'yesterday', ''])(
    'include the start %j, which names no instant',
    async (start) => {
      expect(await problems(`subscriptions: { A.b: { start: "${start}" } }`)).toEqual([
        `subscriptions.A.b.start: expected beginning, end or an instant with its zone, such as 2026-11-01T00:00:00Z, got ${JSON.stringify(start)} (conf.yaml:1)`,
      ]);
    },
  );

  test.each([0, -1, 1.5, '"1e3"', '""', '" 5"', 'true', '9007199254740993'])('include the count %s', async (count) => {
    expect(await problems(`defaults: { batch: { records: ${count} } }`)).toHaveLength(1);
  });
});

describe('settings of a subscription', () => {
  const yaml = 'subscriptions:\n  A.b: { start: "2026-11-01T00:00:00+01:00", batch: { records: 7 } }\n  C.d:\n';

  test('are its own where it has some, else the defaults', async () => {
    const { values } = await load(yaml, { flags: [set('defaults.checkpoint.interval', '5s')] });
    expect(subscriptionSettings(values, 'A.b')).toEqual({
      ...defaultSettings,
      start: '2026-11-01T00:00:00+01:00',
      batch: { ...defaultSettings.batch, records: 7 },
      checkpoint: { ...defaultSettings.checkpoint, intervalMs: 5_000 },
    });
    expect(subscriptionSettings(values, 'toString').start).toBeUndefined();
  });

  test('can be given by variables and flags', async () => {
    const { values } = await load(yaml, {
      environment: {
        TIDEMARK_SUBSCRIPTIONS__A__b__BATCH_WAIT: '20ms',
        TIDEMARK_SUBSCRIPTIONS__E__f__PARKED_PER_AGGREGATE: '2',
      },
      flags: [set('subscriptions.A.b.transaction.liveDocuments', '9'), set('subscriptions.A.b.start', 'end')],
    });
    expect(subscriptionSettings(values, 'A.b')).toMatchObject({
      start: 'end',
      batch: { records: 7, waitMs: 20 },
      transaction: { liveDocuments: 9 },
    });
    expect(subscriptionSettings(values, 'E.f').parked.perAggregate).toBe(2);
  });

  test('are refused for a name that the app does not have, naming the nearest', async () => {
    const config = await load(`${yaml}  OrderSumaryProjection.onEvent: {}\n`);
    const names = ['A.b', 'C.d', 'OrderSummaryProjection.onEvent'];
    expect(() => checkSubscriptionNames(config, names)).toThrow(
      'subscriptions.OrderSumaryProjection.onEvent: expected a subscription of the app (nearest: OrderSummaryProjection.onEvent), got an unknown name (conf.yaml:4)',
    );
    expect(() => checkSubscriptionNames(config, [...names, 'OrderSumaryProjection.onEvent'])).not.toThrow();
  });
});

describe('references to variables in a file', () => {
  const open = ['$', '{'].join('');

  test('are replaced, with a default where the variable is not set or empty', async () => {
    const environment = { DIR: '/data', EMPTY: '' };
    const file = async (text: string) =>
      (await load(`embedded: { file: "${text}" }`, { environment })).values.embedded.file;
    expect(await file(`${open}DIR}/a.db`)).toBe('/data/a.db');
    expect(await file(`${open}NONE:/d}/a${open}EMPTY:b:c}.db`)).toBe('/d/ab:c.db');
    expect(await file(`/x$${open}DIR}`)).toBe(`/x${open}DIR}`);
  });

  test('may stand for numbers', async () => {
    const { values } = await load(`embedded: { partitions: "${open}PARTS:8}" }`);
    expect(values.embedded.partitions).toBe(8);
  });

  test('are a problem where the variable is missing, and hide no other problem', async () => {
    expect(await problems(`app: "${open}APP}"\ndrain: 1`)).toEqual([
      'app: expected the variable APP to be set, got nothing (conf.yaml:1)',
      expect.stringContaining('drain:'),
    ]);
  });

  test('cannot bring structure into the file', async () => {
    const environment = { X: 'a\nlogs: { level: debug }' };
    const { values } = await load(`embedded:\n  file: ${open}X}`, { environment });
    expect(values.logs.level).toBe('info');
    expect(values.embedded.file).toContain('logs:');
  });
});

describe('variables', () => {
  test('that a service named tidemark brings to a Kubernetes container are not ours', async () => {
    const environment = {
      TIDEMARK_PORT: 'tcp://10.0.0.1:80',
      TIDEMARK_SERVICE_HOST: '10.0.0.1',
      TIDEMARK_SERVICE_PORT_HTTP: '80',
      TIDEMARK_PORT_80_TCP_ADDR: '10.0.0.1',
      TIDEMARK_ADMIN_PORT_80_TCP: 'tcp://10.0.0.1:80',
    };
    expect(await problems(undefined, { environment })).toEqual([]);
  });

  test('that are empty count as not set', async () => {
    expect((await load('drain: 1s', { environment: { TIDEMARK_DRAIN: '' } })).values.drain).toBe(1_000);
  });

  test('of other programs are left alone', async () => {
    expect(await problems(undefined, { environment: { PATH: '/bin', TIDEMARKED: 'x', TIDEMARK_CONFIG: 'x' } })).toEqual(
      [],
    );
  });
});
