/**
 * How late rows are: commits of new orders at a steady rate; from the acknowledgement of each to the moment at which a
 * change stream at majority shows its row. Beside the worker of a config, or a bare consumer with one majority write per
 * batch. Prints one line of JSON.
 */
import { argv, stdout } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { aggregate, type CommitRecord, Engine, into, projection, readModel, silentLogger, worker } from 'tidemark';
import { openKafkaLog } from 'tidemark/kafka';
import { openMongo } from 'tidemark/mongo';
import { nodeRuntime } from 'tidemark/node';
import { roundRobinCommits } from '../../examples/eshop/generator/round-robin-commits.ts';
import type { OrderEvents, OrderState } from '../../examples/eshop/order.ts';
import { configSchema } from '../../src/config/schema.ts';
import { subscriptionSettings } from '../../src/config/subscription-settings.ts';

const [, , brokers = '', url = '', database = '', topic = '', side = 'worker', perSecond = '1000', seconds = '15'] =
  argv;
const runtime = nodeRuntime(silentLogger);
const INTERVAL_MS = 10;
/** What is measured before everything is warm does not count. */
const WARM_MS = 3_000;

await using started = new AsyncDisposableStack();
await using log = openKafkaLog({ brokers: brokers.split(','), clientId: `live-${process.pid}`, runtime });
await log.ensureTopics([topic], { partitions: 4 });
await using client = new MongoClient(url, { writeConcern: { w: 'majority' } });
const collection = side === 'worker' ? 'live_rows__g1' : 'live_rows';

async function startWorker(): Promise<void> {
  const Order = aggregate<OrderState, OrderEvents>('eshop.order', { topicName: topic });
  const Rows = readModel<{ status: string; amount: number }>('live_rows');
  const live = projection('LiveRows', {
    onEvent: into(
      Rows,
      Order.onState(({ ref, state }) =>
        Rows.put([ref.tenantId, ref.id], { status: state.status, amount: state.totalAmount }),
      ),
    ),
  });
  const mongo = started.use(await openMongo({ url, database, service: 'eshop', runtime }));
  const config = configSchema.parse({ store: { kind: 'mongodb', url, database } });
  const { checkpoints, readModels, ledger } = mongo;
  const engine = started.use(
    new Engine({
      worker: worker({ context: 'eshop', subscriptions: [live] }),
      stores: { log: log.log, checkpoints, readModels, ledger },
      runtime,
      settings: (subscription) => subscriptionSettings(config, subscription),
      owner: 'bench',
    }),
  );
  engine.start();
  await engine.caughtUp(new AbortController().signal);
}

async function startBare(): Promise<void> {
  const kafka = new Kafka({ clientId: 'bare', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `bare-${process.pid}` });
  const rows = client.db(database).collection<{ _id: string }>(collection);
  await consumer.connect();
  started.defer(() => consumer.disconnect());
  await consumer.subscribe({ topic, fromBeginning: true });
  const joined = Promise.withResolvers<void>();
  consumer.on('consumer.group_join', () => joined.resolve());
  await consumer.run({
    eachBatch: async ({ batch: { messages } }) => {
      const writes = messages.map(({ value }) => {
        const { tenantId, aggregateId, state } = JSON.parse(String(value)) as CommitRecord;
        const { status, totalAmount } = state as OrderState;
        return {
          updateOne: {
            filter: { _id: `${tenantId}/${aggregateId}` },
            update: { $set: { status, amount: totalAmount } },
            upsert: true,
          },
        };
      });
      if (writes.length > 0) await rows.bulkWrite(writes, { ordered: false });
    },
  });
  await joined.promise;
}

await (side === 'worker' ? startWorker() : startBare());
const acknowledged = new Map<string, number>();
const visible = new Map<string, number>();
const stream = client
  .db(database)
  .collection(collection)
  .watch([], { readConcern: { level: 'majority' } });
stream.on('change', (change) => {
  if (!('documentKey' in change)) return;
  const { _id: id } = change.documentKey;
  visible.set(String(id), performance.now());
});
await sleep(1_000);
const total = Number(perSecond) * Number(seconds);
const commits = roundRobinCommits({ commits: total, aggregates: total, seed: 2 });
const each = Math.round((Number(perSecond) * INTERVAL_MS) / 1_000);
const beganMs = performance.now();
// One after the other: what became due while a batch was on its way goes with the next one.
for (let sent = 0; sent < total; ) {
  const due = Math.min(total, each * (1 + Math.floor((performance.now() - beganMs) / INTERVAL_MS)));
  const piece: CommitRecord[] = [];
  for (; sent < due; sent += 1) {
    const { value } = commits.next();
    if (value !== undefined) piece.push(value);
  }
  if (piece.length > 0) {
    await log.append(
      piece.map((commit) => JSON.stringify(commit)),
      { topicOf: () => topic },
    );
    const now = performance.now();
    for (const { tenantId, aggregateId } of piece) acknowledged.set(`${tenantId}/${aggregateId}`, now);
  }
  await sleep(INTERVAL_MS / 2);
}
for (let waited = 0; visible.size < acknowledged.size && waited < 100; waited += 1) await sleep(100);
await stream.close();
const late: number[] = [];
for (const [id, ackMs] of acknowledged) {
  const seenMs = visible.get(id);
  if (seenMs === undefined) throw new Error(`The row of ${id} did not come.`);
  if (ackMs - beganMs > WARM_MS) late.push(seenMs - ackMs);
}
const sorted = late.toSorted((a, b) => a - b);
const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
stdout.write(
  `${JSON.stringify({ p50: at(0.5), p99: at(0.99), records: late.length, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`,
);
