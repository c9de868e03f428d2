import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { KafkaServers } from '../../test/services/kafka-servers.ts';
import { MongodServer } from '../../test/services/mongod-server.ts';
import { printHead, printRow, rate, ratios, runScript, type Side } from '../report.ts';

export type ServersOptions = { readonly commits: number; readonly aggregates: number; readonly rounds: number };

/** Of the loop that waits for each message only so many: it would take all day. */
const NAIVE_COMMITS = 4_000;

type Latency = { readonly p50: number; readonly p99: number; readonly rssMb: number };

function run(script: string, ...args: readonly string[]): Side {
  return runScript(join(import.meta.dirname, script), args) as Side;
}

/** The worker from Kafka into MongoDB beside loops that one would write by hand; all on one machine. */
export async function compareServers(options: ServersOptions): Promise<void> {
  await using kafka = await KafkaServers.start();
  await using mongod = await MongodServer.start();
  await using client = new MongoClient(mongod.url);
  const brokers = kafka.brokers.join(',');
  const { commits, aggregates, rounds } = options;
  const topics = ['bench.first', 'bench.second'] as const;
  console.log(
    `\nKafka → MongoDB: twice ${commits} commits over ${aggregates} aggregates, 4 partitions, one broker, one member`,
  );
  console.log(
    `append: ${rate(run('dataset.ts', brokers, ...topics, String(commits), String(aggregates))).toFixed(1)} k/s\n`,
  );
  const sides = { bound: [], nothing: [], careful: [], rebuilt: [], carefulOlder: [], older: [], naive: [] } as Record<
    'bound' | 'nothing' | 'careful' | 'rebuilt' | 'carefulOlder' | 'older' | 'naive',
    Side[]
  >;
  for (let round = 0; round < rounds; round += 1) {
    sides.bound.push(run('each-batch.ts', brokers, topics[0], String(commits)));
    sides.nothing.push(run('worker.ts', brokers, mongod.url, `nothing-${round}`, topics[0], 'nothing'));
    const [byHand, byWorker, naive] = [`careful-${round}`, `worker-${round}`, `naive-${round}`];
    const loop = (topic: string): Side => run('careful-loop.ts', brokers, mongod.url, byHand, topic, String(commits));
    const worker = (topic: string): Side => run('worker.ts', brokers, mongod.url, byWorker, topic, 'rows');
    sides.careful.push(loop(topics[0]));
    sides.rebuilt.push(worker(topics[0]));
    await expectRight(client, { database: byWorker, collection: 'bench_rows', sum: commits, options });
    sides.carefulOlder.push(loop(topics[1]));
    sides.older.push(worker(topics[1]));
    await expectRight(client, { database: byHand, collection: 'bench_rows', sum: 2 * commits, options });
    await expectRight(client, { database: byWorker, collection: 'bench_rows', sum: 2 * commits, options });
    sides.naive.push(run('careful-loop.ts', brokers, mongod.url, naive, topics[0], String(NAIVE_COMMITS), 'naive'));
    for (const name of [byHand, byWorker, naive, `nothing-${round}`]) await client.db(name).dropDatabase();
  }
  printHead();
  printRow('bound: eachBatch + JSON.parse, k/s', sides.bound.map(rate), 1);
  printRow('worker, nothing to write, k/s', sides.nothing.map(rate), 1);
  printRow('worker : bound (target ≥ 0.95)', ratios(sides.nothing, sides.bound), 2);
  printRow('careful loop, new rows, k/s', sides.careful.map(rate), 1);
  printRow('worker, new rows, k/s', sides.rebuilt.map(rate), 1);
  printRow('worker : careful loop, new rows (target ≥ 2)', ratios(sides.rebuilt, sides.careful), 2);
  printRow('worker : careful loop, older rows (target ≥ 1.3)', ratios(sides.older, sides.carefulOlder), 2);
  printRow('naive loop, k/s', sides.naive.map(rate), 2);
  printRow('worker : naive loop, new rows (target ≥ 80)', ratios(sides.rebuilt, sides.naive), 0);
  printRow(
    'peak memory of the worker, new rows, MB',
    sides.rebuilt.map(({ rssMb }) => rssMb),
    0,
  );
  compareLatency({ brokers, url: mongod.url, rounds });
}

function compareLatency({ brokers, url, rounds }: { brokers: string; url: string; rounds: number }): void {
  const script = join(import.meta.dirname, 'live.ts');
  const [bare, live]: [Latency[], Latency[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(runScript(script, [brokers, url, `bare-${round}`, `bare.${round}`, 'bare']) as Latency);
    live.push(runScript(script, [brokers, url, `live-${round}`, `live.${round}`, 'worker']) as Latency);
  }
  console.log('\nLive, 1,000 commits/s of new rows, from acknowledged to visible:\n');
  printHead();
  printRow(
    'bare consumer + one majority write, p99, ms',
    bare.map(({ p99 }) => p99),
    1,
  );
  printRow(
    'worker, p50, ms',
    live.map(({ p50 }) => p50),
    1,
  );
  printRow(
    'worker, p99, ms',
    live.map(({ p99 }) => p99),
    1,
  );
  printRow(
    'worker : bare, p99 (target ≤ 5)',
    live.map(({ p99 }, n) => p99 / (bare[n]?.p99 ?? Number.NaN)),
    2,
  );
  printRow(
    'peak memory, publisher and worker, MB',
    live.map(({ rssMb }) => rssMb),
    0,
  );
}

type Expectation = {
  readonly database: string;
  readonly collection: string;
  /** Of the versions of all rows. */
  readonly sum: number;
  readonly options: ServersOptions;
};

/** A result that is not right does not count. */
async function expectRight(client: MongoClient, { database, collection, sum, options }: Expectation): Promise<void> {
  const [found] = await client
    .db(database)
    .collection(collection)
    .aggregate<{ rows: number; versions: number }>([
      { $group: { _id: 0, rows: { $sum: 1 }, versions: { $sum: '$version' } } },
    ])
    .toArray();
  if (found?.rows === options.aggregates && found.versions === sum) return;
  throw new Error(`The rows in ${database} are wrong: ${JSON.stringify(found)}`);
}
