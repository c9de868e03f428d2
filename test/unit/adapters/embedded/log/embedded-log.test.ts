import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type EmbeddedFile, openEmbedded } from '../../../../../src/adapters/embedded/index.ts';

const signal = new AbortController().signal;

function inMemory(): Promise<EmbeddedFile> {
  return openEmbedded({ file: ':memory:', role: 'follower', partitions: 1 });
}

function record(topic: string, timestamp: number, key = 'k') {
  return { topic, partition: 0, key, value: '{}', headers: [], timestamp };
}

describe('the embedded log', () => {
  test('finds instants in logs of many blocks, although stamps go back', async () => {
    await using file = await inMemory();
    const stamps = Array.from({ length: 10_000 }, (_, n) => 1_000_000 + n * 10 - (n % 7 === 0 ? 50_000 : 0));
    // In several appends, so that blocks are begun in one and ended in another.
    for (let from = 0; from < stamps.length; from += 3_000) {
      await file.appendRecords(stamps.slice(from, from + 3_000).map((stamp) => record('t', stamp)));
    }
    const instants = [0, 950_000, 1_000_010, 1_040_950, 1_040_960, 1_050_005, 1_099_990, 1_099_991];
    for (const instant of instants) {
      const expected = stamps.findIndex((stamp) => stamp >= instant);
      expect((await file.log.offsetsAt('t', instant)).get(0)).toBe(expected < 0 ? stamps.length : expected);
    }
  });

  test('keeps the streams of topics apart', async () => {
    await using file = await inMemory();
    await file.appendRecords([record('a', 1, 'a0'), record('b', 1, 'b0'), record('a', 1, 'a1')]);
    const session = file.log.open('s', ['a', 'b']);
    const limits = { records: 10, bytes: 1_000_000, waitMs: 0 };
    const keys = async (topic: string) =>
      (await session.pull({ topic, partition: 0, offset: 0 }, limits, signal)).records.map(({ key }) => key);
    expect([await keys('a'), await keys('b')]).toEqual([['a0', 'a1'], ['b0']]);
  });

  test('tells a session of topics that appear later, once', async () => {
    await using file = await inMemory();
    await file.appendRecords([record('a', 1)]);
    const session = file.log.open('s', ['a', 'later', 'a']);
    const assignments = session.assignments(signal)[Symbol.asyncIterator]();
    const first = await assignments.next();
    expect(first.value).toEqual({ assigned: [{ topic: 'a', partition: 0 }], lost: [] });
    // While nobody waits yet: it must not be missed.
    await file.appendRecords([record('later', 1), record('unrelated', 1)]);
    expect((await assignments.next()).value).toEqual({ assigned: [{ topic: 'later', partition: 0 }], lost: [] });
    const next = assignments.next();
    await file.appendRecords([record('later', 2)]);
    await session.stop();
    expect(await next).toMatchObject({ done: true });
  });

  test('waits at the start of a topic that does not exist yet', async () => {
    await using file = await inMemory();
    const session = file.log.open('s', ['later']);
    const from = { topic: 'later', partition: 0, offset: 0 };
    const pulling = session.pull(from, { records: 10, bytes: 1_000_000, waitMs: 600_000 }, signal);
    await file.appendRecords([record('later', 1)]);
    expect((await pulling).records).toHaveLength(1);
    await session.stop();
  });

  test('ends every wait when its session stops and the file is closed at once', async () => {
    const file = await inMemory();
    const { session, pulling, next } = await waiting(file);
    const stopping = session.stop();
    const closing = file.close();
    expect((await pulling).records).toEqual([]);
    expect(await next).toMatchObject({ done: true });
    await Promise.all([stopping, closing]);
  });

  test('tells those who still wait that the file was closed', async () => {
    const file = await inMemory();
    const { pulling, next } = await waiting(file);
    const closing = file.close();
    await expect(pulling).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(next).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await closing;
  });
});

/** A session that waits for records and for partitions. */
async function waiting(file: EmbeddedFile) {
  await file.appendRecords([record('a', 1)]);
  const session = file.log.open('s', ['a']);
  const limits = { records: 10, bytes: 1_000_000, waitMs: 600_000 };
  const pulling = session.pull({ topic: 'a', partition: 0, offset: 1 }, limits, signal);
  const assignments = session.assignments(signal)[Symbol.asyncIterator]();
  await assignments.next();
  const next = assignments.next();
  // Until both wait: a pull gives others their turn first.
  await nextTurn();
  await nextTurn();
  return { session, pulling, next };
}
