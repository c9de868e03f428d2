import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Ended, Workplace } from '../../support/command-line.ts';
import { orderApp, orderLine } from '../../support/order-app.ts';
import { KafkaSubject } from '../kafka/kafka-subject.ts';
import { freshName } from '../mongo/mongo-stores.ts';

const kafka = inject('kafka');
const mongodb = inject('mongodb');
const root = join(import.meta.dirname, '..', '..', '..');

function jsonLines({ stdout }: Ended): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

describe.skipIf(kafka === undefined || mongodb === undefined)('the command line on Kafka and MongoDB', () => {
  let subject: KafkaSubject;
  beforeAll(async () => {
    subject = await KafkaSubject.connect((kafka ?? '').split(','));
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  /** A folder with an app that follows a topic of its own, and a config. */
  async function shop(change: { readonly context?: string; readonly database?: string } = {}) {
    const workplace = await Workplace.open();
    const topic = subject.topicName();
    const { context = 'shop', database = freshName() } = change;
    const app = orderApp
      .replace(`('shop.order')`, `('shop.order', { topicName: '${topic}' })`)
      .replace(`context: 'shop'`, `context: '${context}'`);
    await workplace.write('app.ts', app);
    const log = { kind: 'kafka', brokers: kafka, clientId: topic, sessionTimeout: '6s' };
    const store = { kind: 'mongodb', url: mongodb, database };
    await workplace.write('worker.yaml', JSON.stringify({ app: './app.ts', log, store }));
    return {
      topic,
      database,
      run: (args: readonly string[], input?: string) =>
        workplace.run([...args, '--config', 'worker.yaml'], input === undefined ? {} : { input }),
      [Symbol.asyncDispose]: () => workplace[Symbol.asyncDispose](),
    };
  }

  function envelopes(topic: string, count: number): string {
    return Array.from({ length: count }, (_, n) =>
      JSON.stringify({ topic, key: `O-${n}`, value: orderLine({ id: `O-${n}`, version: 1, units: n }) }),
    ).join('\n');
  }

  test('appends, runs until caught up, and shows rows, positions and failures', async () => {
    await using place = await shop();
    const lines = envelopes(place.topic, 30);
    expect(await place.run(['append', '-'], lines)).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/TOPIC_MISSING.*does not exist[^]*--create-topics/) as string,
    });
    expect(await place.run(['append', '-', '--create-topics', '3'], lines)).toMatchObject({
      code: 0,
      stdout: 'Appended 30 commits; 0 were in the log already.\n',
    });
    expect(await place.run(['status'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No subscription') as string,
    });
    expect(await place.run(['rows', 'orders'])).toMatchObject({ code: 2 });
    const bad = JSON.stringify({
      topic: place.topic,
      key: 'O-99',
      value: orderLine({ id: 'O-99', version: 1, units: -1 }),
    });
    expect(await place.run(['append', '-'], bad)).toMatchObject({ code: 0 });
    const ran = await place.run(['run', '--until-caught-up']);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('units below zero') as string });
    expect(jsonLines(await place.run(['rows', 'orders', '--json']))).toHaveLength(30);
    const positions = jsonLines(await place.run(['status', '--json']));
    expect(positions.map(({ lag }) => lag)).toEqual([0, 0, 0]);
    expect(positions.map(({ parked }) => parked)).toContain(1);
    expect(jsonLines(await place.run(['failures', 'list', '--json']))).toMatchObject([
      { version: 1, error: 'TypeError' },
    ]);
  });

  test('odd records and partitions that were added later come out as they should', async () => {
    await using place = await shop();
    const { topic } = place;
    await subject.createTopic(topic, 1);
    const old = { topic, partition: 0 };
    const commit = (id: string, version: number, more: { readonly units?: number; readonly tenant?: string } = {}) => {
      const { units = version, tenant } = more;
      const line = JSON.parse(orderLine({ id, version, units })) as object;
      return { key: id, value: JSON.stringify({ ...line, ...(tenant === undefined ? {} : { tenantId: tenant }) }) };
    };
    const large = { key: 'L', value: orderLine({ id: 'L', version: 1, status: 'x'.repeat(5_000_000) }) };
    await subject.append(old, [commit('A', 1), { key: 'A', value: undefined }, commit('B', 1)]);
    await subject.append(old, [large]);
    await subject.append(old, [{ key: 'N', value: 'this is no JSON' }, commit('P', 1), commit('P', 2, { units: -1 })]);
    expect(await place.run(['run', '--until-caught-up'])).toMatchObject({ code: 0 });
    // Behind in the old partition, while what follows stands in new ones.
    await subject.append(old, [commit('A', 2), commit('N', 1), commit('P', 3)]);
    await subject.admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
    await subject.append({ topic, partition: 1 }, [commit('P', 4), commit('A', 3), commit('T', 1, { tenant: 'one' })]);
    await subject.append({ topic, partition: 2 }, [commit('N', 2), commit('C', 1), commit('B', 2)]);
    await subject.append({ topic, partition: 2 }, [commit('T', 1, { tenant: 'two' })]);
    expect(await place.run(['run', '--until-caught-up'])).toMatchObject({ code: 0 });
    const rows = new Map(
      jsonLines(await place.run(['rows', 'orders', '--json'])).map((row) => [row['_id'], row['units']]),
    );
    expect(rows).toEqual(
      new Map([
        ['A', 3],
        ['B', 2],
        ['C', 1],
        ['L', 1],
        ['P', 1],
        ['T', 1],
      ]),
    );
    const parked = jsonLines(await place.run(['failures', 'list', '--json']));
    expect(parked.map(({ ref, version, role }) => [ref, version, role])).toEqual([
      [undefined, undefined, 'head'],
      ['shop.order/(0)/P', 2, 'head'],
      ['shop.order/(0)/N', 1, 'follower'],
      ['shop.order/(0)/P', 3, 'follower'],
      ['shop.order/(0)/P', 4, 'follower'],
      ['shop.order/(0)/N', 2, 'follower'],
      ['shop.order/two/T', 1, 'head'],
    ]);
    expect(jsonLines(await place.run(['status', '--json'])).map(({ lag }) => lag)).toEqual([0, 0, 0]);
  });

  test('a worker that lags when retention passes it stops there, and names from and to', async () => {
    await using place = await shop();
    await place.run(['append', '-', '--create-topics', '1'], envelopes(place.topic, 20));
    expect(await place.run(['run', '--until-caught-up'])).toMatchObject({ code: 0 });
    await place.run(['append', '-'], envelopes(place.topic, 20));
    await subject.deleteRecords(place.topic, 0, 30);
    const ran = await place.run(['run', '--until-caught-up']);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/stopped OrderProjection\.onEvent .*gap: Offset 20 .* goes from 30 to 40/);
    expect(jsonLines(await place.run(['check', '--json'])).map(({ finding }) => finding)).toContainEqual(
      'Partition 0 lost the commits from 20 to 30.',
    );
  });

  test('check tells what a worker will meet', async () => {
    await using place = await shop();
    const before = await place.run(['check', '--json']);
    expect(before.code).toBe(0);
    expect(jsonLines(before).map(({ finding }) => finding)).toEqual([
      'The topic does not exist yet.',
      'No worker has used it yet; the first run makes it.',
    ]);
    await subject.admin.createTopics({
      topics: [{ topic: place.topic, numPartitions: 1, configEntries: [{ name: 'cleanup.policy', value: 'compact' }] }],
    });
    const compacted = await place.run(['check']);
    expect(compacted.code).toBe(1);
    expect(compacted.stdout).toMatch(/The store is MongoDB [\d.]+, replica set rs0\./);
    expect(compacted.stdout).toContain('It is compacted');
  });

  test('check and run refuse the database of another service', async () => {
    await using one = await shop();
    await one.run(['append', '-', '--create-topics', '1'], envelopes(one.topic, 1));
    expect(await one.run(['run', '--until-caught-up'])).toMatchObject({ code: 0 });
    await using other = await shop({ context: 'elsewhere', database: one.database });
    const checked = jsonLines(await other.run(['check', '--json']));
    expect(checked).toContainEqual(
      expect.objectContaining({
        level: 'problem',
        finding: expect.stringContaining('belongs to the service shop') as string,
      }),
    );
    expect(await other.run(['run', '--until-caught-up'])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('DATABASE_FOREIGN') as string,
    });
  });

  test('servers that are away end a look with 4, in time; a worker waits for them and ends when it is told to', async () => {
    await using workplace = await Workplace.open();
    await workplace.write('app.ts', orderApp);
    const away = {
      kind: 'mongodb',
      url: 'mongodb://127.0.0.1:1/?replicaSet=rs0',
      database: 'x',
      connectTimeout: '500ms',
    };
    const log = { kind: 'kafka', brokers: '127.0.0.1:1' };
    await workplace.write('worker.yaml', JSON.stringify({ app: './app.ts', log, store: away }));
    const looking = await workplace.run(['status', '--config', 'worker.yaml']);
    expect(looking).toMatchObject({ code: 4, stderr: expect.stringContaining('UNAVAILABLE') as string });
    const worker = workplace.start(['run', '--config', 'worker.yaml']);
    await worker.says('MongoDB cannot be reached yet; trying again.');
    worker.child.kill('SIGTERM');
    expect(await worker.ended()).toMatchObject({ code: 0 });
  });

  test('the demo makes the same rows as on the embedded file', async () => {
    await using workplace = await Workplace.open();
    const environment = {
      KAFKA: kafka ?? '',
      MONGODB_URL: mongodb ?? '',
      TIDEMARK_STORE_DATABASE: freshName(),
      TIDEMARK_LOG_CLIENT_ID: subject.topicName(),
    };
    const config = join(root, 'config', 'worker.example.yaml');
    const demo = spawn(
      process.execPath,
      ['--conditions=tidemark-source', 'examples/eshop/start.ts', '--config', config, '--until-caught-up'],
      { cwd: root, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [output] = await Promise.all([text(demo.stdout), text(demo.stderr), once(demo, 'close')]);
    expect(demo.exitCode).toBe(0);
    expect(output).toContain('at the head');
    const file = join(workplace.folder, 'demo.db');
    const embedded = spawn(
      process.execPath,
      ['--conditions=tidemark-source', 'examples/eshop/start.ts', '--until-caught-up'],
      { cwd: root, env: { ...process.env, TIDEMARK_EMBEDDED_FILE: file }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    await Promise.all([text(embedded.stdout), text(embedded.stderr), once(embedded, 'close')]);
    for (const model of ['order_summary', 'buyer_totals', 'order_payment', 'open_order_by_buyer']) {
      const rows = ['rows', model, '--json'];
      const onServers = jsonLines(await workplace.run([...rows, '--config', config], { environment }));
      const onFile = jsonLines(await workplace.run(rows, { environment: { TIDEMARK_EMBEDDED_FILE: file } }));
      expect(onServers.length).toBeGreaterThan(10);
      expect(onServers).toEqual(onFile);
    }
  });
});
