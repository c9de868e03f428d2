import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { openMongo } from '../../../src/adapters/mongo/index.ts';
import { claimed, commitOn, partition, scope } from '../../contracts/stores-subject.ts';
import { freshStores, mongodb, runtime } from './mongo-stores.ts';
import { modelNamed, rowOf, writing } from './plans.ts';

const model = modelNamed('order_summary');
const script = fileURLToPath(new URL('./owner-process.ts', import.meta.url));

type OwnerProcess = AsyncDisposable & { readonly process: ChildProcess; readonly lines: AsyncIterator<string> };

/** Starts an owner and waits until it is inside its transaction. */
async function ownerProcess(database: string, signal: 'SIGKILL' | 'SIGSTOP'): Promise<OwnerProcess> {
  const command = ['--conditions=tidemark-source', script, mongodb ?? '', database, signal];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const over = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const started: OwnerProcess = {
    process: child,
    lines,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await over;
    },
  };
  expect((await lines.next()).value).toBe('inside');
  return started;
}

describe.skipIf(mongodb === undefined)('taking over a partition in MongoDB', () => {
  test('goes on within a second when its owner was killed inside a transaction', async () => {
    await using stores = await freshStores();
    await using dead = await ownerProcess(stores.database, 'SIGKILL');
    if (dead.process.exitCode === null && dead.process.signalCode === null) await once(dead.process, 'exit');
    const startedAt = performance.now();
    const owner = await claimed(stores.subject);
    await commitOn(owner, { offset: 2, plan: writing(model, [rowOf('O-1', { by: 'the living' }, 2)]) });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(await stores.subject.readModels.readRows(model.name, { afterId: undefined, limit: 9 })).toEqual([
      { id: 'O-1', row: { by: 'the living' } },
    ]);
  });

  test('fences an owner that was frozen inside a transaction, and nothing of its lands', async () => {
    await using stores = await freshStores();
    await using frozen = await ownerProcess(stores.database, 'SIGSTOP');
    const startedAt = performance.now();
    const owner = await claimed(stores.subject);
    await commitOn(owner, { offset: 2, plan: writing(model, [rowOf('O-1', { by: 'the living' }, 2)]) });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    frozen.process.kill('SIGCONT');
    expect((await frozen.lines.next()).value).toBe('fenced');
    expect(await stores.subject.readModels.readRows(model.name, { afterId: undefined, limit: 9 })).toEqual([
      { id: 'O-1', row: { by: 'the living' } },
    ]);
    await commitOn(owner, { offset: 3 });
  });

  test('ends what its owner left open in a transaction of another partition', async () => {
    await using stores = await freshStores();
    await using dead = await openMongo({ url: mongodb ?? '', database: stores.database, service: 'eshop', runtime });
    const other = { ...partition, partition: 1 };
    await claimed(dead);
    await claimed(dead, { at: other });
    // As a process leaves it that dies while it commits both: open in the session of the other partition.
    await using client = new MongoClient(mongodb ?? '');
    const db = client.db(stores.database);
    const owners = db.collection<{ sessions: { store: string }[] }>('tm_owner');
    const session = client.startSession();
    session.startTransaction();
    const both = { '_id.subscription': scope.subscription };
    await db.collection('tm_checkpoint').updateMany(both, { $set: { origin: 'ghost' } }, { session });
    const store = (await owners.findOne({ '_id.partition': 0 }))?.sessions[0]?.store;
    const left = { id: session.id?.id, store };
    await owners.updateOne({ '_id.partition': 1 }, { $push: { sessions: left } } as object);

    const startedAt = performance.now();
    await commitOn(await claimed(stores.subject), { offset: 5 });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await expect(session.commitTransaction()).rejects.toThrow(Error);
    expect(await stores.subject.checkpoints.read(scope, other)).not.toMatchObject({ origin: 'ghost' });
  });

  test('leaves no session behind in the list but the own one', async () => {
    await using stores = await freshStores();
    await using one = await openMongo({ url: mongodb ?? '', database: stores.database, service: 'eshop', runtime });
    await using two = await openMongo({ url: mongodb ?? '', database: stores.database, service: 'eshop', runtime });
    for (const each of [one, two, one, two]) await commitOn(await claimed(each));
    await using client = new MongoClient(mongodb ?? '');
    const documents = await client.db(stores.database).collection('tm_owner').find().toArray();
    expect(documents).toHaveLength(1);
    expect(documents[0]?.['sessions']).toHaveLength(1);
  });

  test('by two at once gives both an epoch, and the last one the partition', async () => {
    await using stores = await freshStores();
    await using other = await openMongo({ url: mongodb ?? '', database: stores.database, service: 'eshop', runtime });
    const owners = await Promise.all([claimed(stores.subject), claimed(other)]);
    const [first, last] = owners.toSorted((a, b) => a.fence().epoch - b.fence().epoch);
    expect(await first?.commit({ offset: 1 })).toMatchObject({ kind: 'fenced' });
    expect(await last?.commit({ offset: 1 })).toEqual({ kind: 'committed' });
  });
});
