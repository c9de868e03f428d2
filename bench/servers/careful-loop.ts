/**
 * The rival, written with care: kafkajs `eachBatch`, 8 MiB at a time, four partitions at once; of each key the newest
 * version of the batch; guarded unordered bulk writes of 1,000 at majority, side by side; the offset after the
 * acknowledgement. With `naive` it is the loop that one
 * writes first: a guarded update per message, awaited.
 */
import { argv, stdout } from 'node:process';
import { type AnyBulkWriteOperation, MongoBulkWriteError, MongoClient, MongoServerError } from 'mongodb';
import type { CommitRecord } from 'tidemark';
import type { OrderState } from '../../examples/eshop/order.ts';
import { consumed } from './consumed.ts';

type Row = { _id: string; version: number; buyer: string; status: string; amount: number; units: number };

const [, , brokers = '', url = '', database = '', topic = '', count = '', kind = 'careful'] = argv;
const DUPLICATE_KEY = 11_000;
const BULK = 1_000;

await using client = new MongoClient(url, { writeConcern: { w: 'majority' } });
const rows = client.db(database).collection<Row>('bench_rows');

function rowOf({ aggregateId, tenantId, ownerId, version, state }: CommitRecord): Row {
  const { status, totalAmount, lines } = state as OrderState;
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0);
  return { _id: `${tenantId}/${aggregateId}`, version, buyer: ownerId ?? '', status, amount: totalAmount, units };
}

/** A row that is newer already is left alone: the upsert then collides with it. */
function writeOf({ _id, ...fields }: Row): AnyBulkWriteOperation<Row> {
  return { updateOne: { filter: { _id, version: { $lt: fields.version } }, update: { $set: fields }, upsert: true } };
}

async function writeAll(newest: readonly Row[]): Promise<void> {
  const pieces: (readonly Row[])[] = [];
  for (let from = 0; from < newest.length; from += BULK) pieces.push(newest.slice(from, from + BULK));
  await Promise.all(pieces.map(writePiece));
}

async function writePiece(piece: readonly Row[]): Promise<void> {
  await rows.bulkWrite(piece.map(writeOf), { ordered: false }).catch((error: unknown) => {
    const isStale = error instanceof MongoBulkWriteError && error.code === DUPLICATE_KEY;
    if (!isStale) throw error;
  });
}

async function writeOne(row: Row): Promise<void> {
  const { _id, ...fields } = row;
  await rows
    .updateOne({ _id, version: { $lt: fields.version } }, { $set: fields }, { upsert: true })
    .catch((error: unknown) => {
      if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) throw error;
    });
}

const { ms, records } = await consumed(
  { brokers, topic, records: Number(count), bytes: 8 * 1024 * 1024, concurrency: kind === 'naive' ? 1 : 4 },
  async (batch) => {
    const commits = batch.map(({ value }) => rowOf(JSON.parse(String(value)) as CommitRecord));
    if (kind === 'naive') {
      for (const row of commits) await writeOne(row);
      return;
    }
    const newest = new Map<string, Row>();
    for (const row of commits) {
      const { _id: id } = row;
      if ((newest.get(id)?.version ?? 0) < row.version) newest.set(id, row);
    }
    await writeAll([...newest.values()]);
  },
);
stdout.write(`${JSON.stringify({ ms, records, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
