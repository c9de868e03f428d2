import { describe, expect, test } from 'vitest';
import { inflater } from '../../../../../src/adapters/kafka/batches/codecs.ts';
import { type Flight, PartitionFeed } from '../../../../../src/adapters/kafka/fetch/partition-feed.ts';
import type { FetchAnswer } from '../../../../../src/adapters/kafka/wire/fetch-request.ts';
import { UnavailableError } from '../../../../../src/runtime/errors.ts';
import { recordBatch } from '../batches/record-batches.ts';

const partition = { topic: 't', partition: 0 };
const limits = { records: 100, bytes: 1_000_000, waitMs: 0 };

function feedAt(offset: number): PartitionFeed {
  const feed = new PartitionFeed(partition, { inflate: inflater(1_000), nowMs: () => 0 });
  feed.seek(offset);
  return feed;
}

function batchOf(firstOffset: number, count = 2): Buffer {
  const records = Array.from({ length: count }, (_, index) => ({ value: Buffer.from(String(firstOffset + index)) }));
  return recordBatch(records, { firstOffset });
}

function answer(records: Buffer, end: number): FetchAnswer {
  return { topicId: '', ...partition, errorCode: 0, low: 0, end, aborted: [], records };
}

/** Asks once and is answered. */
function fetched(feed: PartitionFeed, records: Buffer, end: number): Flight {
  const flight = feed.begin();
  feed.accept(flight, answer(records, end));
  feed.end(flight);
  return flight;
}

describe('the feed of a partition', () => {
  test('wants records while somebody waits, once, and the following ones before they are asked for', () => {
    const feed = feedAt(0);
    expect([feed.hasDemand, feed.isOpen]).toEqual([false, false]);
    feed.want('wait');
    expect(feed.isOpen).toBe(true);
    const flight = feed.begin();
    expect([feed.hasDemand, feed.isOpen]).toEqual([true, false]);
    feed.accept(flight, answer(batchOf(0), 6));
    feed.end(flight);
    feed.want('none');
    // One answer ahead of the one in use, no more.
    expect(feed.isOpen).toBe(true);
    expect(fetched(feed, batchOf(2), 6).offset).toBe(2);
    expect(feed.hasDemand).toBe(false);
    expect(feed.take(limits)).toMatchObject({ records: [{ value: '0' }, { value: '1' }], nextOffset: 2, end: 6 });
    expect([feed.isOpen, feed.begin().offset]).toEqual([true, 4]);
  });

  test('wants nothing at the end of the log unless somebody waits', () => {
    const feed = feedAt(0);
    feed.want('wait');
    fetched(feed, batchOf(0), 2);
    feed.want('none');
    expect(feed.hasDemand).toBe(false);
    feed.take(limits);
    expect([feed.hasDemand, feed.take(limits)]).toEqual([false, undefined]);
  });

  test('takes one answer for one offset, whichever question comes back first', () => {
    const feed = feedAt(0);
    feed.want('wait');
    const [slow, fast] = [feed.begin(), feed.begin()];
    feed.accept(fast, answer(batchOf(0), 4));
    feed.accept(slow, answer(batchOf(0), 4));
    expect(feed.take(limits)?.nextOffset).toBe(2);
    expect(feed.take(limits)).toBeUndefined();
  });

  test('ignores what was asked before its reader went elsewhere', () => {
    const feed = feedAt(0);
    feed.want('wait');
    const before = feed.begin();
    feed.seek(10);
    expect(feed.isOpen).toBe(true);
    feed.accept(before, answer(batchOf(0), 20));
    expect([feed.take(limits), feed.bounds]).toEqual([undefined, undefined]);
  });

  test('keeps what it holds for a reader that comes back to the same offset', () => {
    const feed = feedAt(0);
    feed.want('wait');
    fetched(feed, batchOf(0, 4), 4);
    feed.take({ ...limits, records: 1 });
    feed.seek(1);
    expect(feed.take(limits)).toMatchObject({ records: [{ value: '1' }, { value: '2' }, { value: '3' }] });
  });

  test('is urgent until a question that was put after the wish is answered', () => {
    const feed = feedAt(0);
    const before = feed.begin();
    const { mark } = feed;
    feed.want('now');
    expect(feed.isUrgent).toBe(true);
    const after = feed.begin();
    expect(feed.isUrgent).toBe(false);
    feed.accept(before, answer(Buffer.alloc(0), 0));
    expect(feed.isAnsweredSince(mark)).toBe(false);
    feed.accept(after, answer(Buffer.alloc(0), 0));
    expect([feed.isAnsweredSince(mark), feed.hasDemand]).toEqual([true, false]);
  });

  test('asks with its size for a batch that came cut, and with the usual one afterwards', () => {
    const feed = feedAt(0);
    feed.want('wait');
    const large = recordBatch([{ value: Buffer.alloc(2_000_000, 'x') }]);
    fetched(feed, large.subarray(0, 1_000), 1);
    expect(feed.take(limits)).toBeUndefined();
    expect(feed.begin()).toMatchObject({ offset: 0, bytesMax: large.length });
    fetched(feed, large, 1);
    expect(feed.take(limits)).toMatchObject({ nextOffset: 1 });
    expect(feed.begin().bytesMax).toBe(1_048_576);
  });

  test('tells damage once the records before it are taken, and asks anew when the reader does', () => {
    const feed = feedAt(0);
    feed.want('wait');
    const broken = batchOf(2);
    broken.writeUInt8(1, broken.length - 1);
    fetched(feed, Buffer.concat([batchOf(0), broken]), 4);
    expect(feed.take(limits)?.nextOffset).toBe(2);
    expect(() => feed.take(limits)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
    expect([feed.take(limits), feed.begin().offset]).toEqual([undefined, 2]);
  });

  test('gives an error to its reader once, and remembers an outage until it is answered', () => {
    const feed = feedAt(0);
    feed.fail(new Error('gone'));
    expect(() => feed.take(limits)).toThrow('gone');
    expect(feed.take(limits)).toBeUndefined();
    feed.trouble(new UnavailableError('away'));
    expect(feed.problem).toMatchObject({ message: 'away' });
    feed.want('wait');
    fetched(feed, Buffer.alloc(0), 0);
    expect(feed.problem).toBeUndefined();
  });
});
