import { createRequire } from 'node:module';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spanOf } from '../../../../../src/adapters/kafka/batches/batch-span.ts';
import { inflater } from '../../../../../src/adapters/kafka/batches/codecs.ts';
import { RecordCursor } from '../../../../../src/adapters/kafka/batches/record-cursor.ts';
import type { AbortedTransaction } from '../../../../../src/adapters/kafka/wire/fetch-request.ts';
import type { LogRecord } from '../../../../../src/log/record.ts';
import { TidemarkError } from '../../../../../src/runtime/errors.ts';
import { controlBatch, recordBatch, TRANSACTIONAL } from './record-batches.ts';

const require = createRequire(import.meta.url);
const kafkajs = {
  record: require('kafkajs/src/protocol/recordBatch/record/v0') as (record: object) => { buffer: Buffer },
  batch: (
    require('kafkajs/src/protocol/recordBatch/v0') as Record<
      'RecordBatch',
      (batch: object) => Promise<{ buffer: Buffer }>
    >
  ).RecordBatch,
  decode: require('kafkajs/src/protocol/recordBatch/v0/decoder') as (decoder: unknown) => Promise<{
    records: readonly { offset: string; timestamp: string; key: Buffer | null; value: Buffer | null }[];
  }>,
  Decoder: require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => unknown,
};

const partition = { topic: 't', partition: 3 };
const inflate = inflater(10_000_000);
const all = { records: 1_000_000, bytes: Number.MAX_SAFE_INTEGER };

function cursorOf(batches: Buffer, { from = 0, aborted = [] }: { from?: number; aborted?: AbortedTransaction[] } = {}) {
  return new RecordCursor({ partition, batches, aborted, from, inflate });
}

const text = (value: string) => ({ value: Buffer.from(value) });
const values = (records: readonly LogRecord[]) => records.map(({ value }) => value);
const bytesOf = (value: LogRecord['value']) => (value === undefined ? undefined : Buffer.from(value).toString('hex'));

describe('record batches', () => {
  test('are read as they were written: texts, bytes, nulls, headers in their order, stamps', () => {
    const batch = recordBatch(
      [
        { key: Buffer.from('ä'), value: Buffer.from('\ufeff{}'), timestampDelta: -4 },
        {
          value: Buffer.from([0xff, 0x00]),
          headers: [
            ['a', Buffer.from('x')],
            ['', Buffer.alloc(0)],
            ['a', undefined],
          ],
        },
        { key: Buffer.alloc(0), value: undefined, offsetDelta: 7 },
      ],
      { firstOffset: 5_000_000_000, lastOffsetDelta: 9, timestamp: 1_700_000_000_000 },
    );
    const cursor = cursorOf(batch);
    expect(cursor.take(all)).toEqual([
      { ...partition, offset: 5_000_000_000, timestamp: 1_699_999_999_996, key: 'ä', value: '\ufeff{}', headers: [] },
      {
        ...partition,
        offset: 5_000_000_001,
        timestamp: 1_700_000_000_000,
        key: undefined,
        value: Uint8Array.from([0xff, 0x00]),
        headers: [
          ['a', 'x'],
          ['', ''],
          ['a', undefined],
        ],
      },
      { ...partition, offset: 5_000_000_007, timestamp: 1_700_000_000_000, key: '', value: undefined, headers: [] },
    ]);
    expect(cursor).toMatchObject({ next: 5_000_000_010, isDone: true });
  });

  test('keep a replacement character that was written as one, beside bytes that are no text', () => {
    const batch = recordBatch([
      text('a\ufffdb'),
      { value: Buffer.from([0x61, 0xc3]) },
      { value: Buffer.from([0xed, 0xa0, 0x80]) },
    ]);
    expect(values(cursorOf(batch).take(all))).toEqual([
      'a\ufffdb',
      Uint8Array.from([0x61, 0xc3]),
      Uint8Array.from([0xed, 0xa0, 0x80]),
    ]);
  });

  test('are read from the offset asked for, as many as asked for', () => {
    const batch = recordBatch(['a', 'b', 'c', 'd'].map(text), { firstOffset: 10 });
    const cursor = cursorOf(batch, { from: 11 });
    expect(values(cursor.take({ records: 2, bytes: 1_000 }))).toEqual(['b', 'c']);
    expect(cursor).toMatchObject({ next: 13, isDone: false });
    expect(values(cursor.take({ records: 2, bytes: 1_000 }))).toEqual(['d']);
    expect(cursor).toMatchObject({ next: 14, isDone: true });
    expect(cursor.take(all)).toEqual([]);
  });

  test('give at least one record, however few bytes are asked for', () => {
    const cursor = cursorOf(recordBatch(['aaaa', 'bbbb', 'cc', 'dd'].map(text)));
    expect(values(cursor.take({ records: 9, bytes: 1 }))).toEqual(['aaaa']);
    expect(values(cursor.take({ records: 9, bytes: 6 }))).toEqual(['bbbb', 'cc']);
  });

  test('with the stamp of the log give that one', () => {
    const batch = recordBatch([text('a')], { timestamp: 5, maxTimestamp: 9, attributes: 0x08 });
    expect(cursorOf(batch).take(all)).toMatchObject([{ timestamp: 9 }]);
  });

  test('that are empty, or hold only what ends transactions, move the position', () => {
    const batches = Buffer.concat([
      recordBatch([], { firstOffset: 0, lastOffsetDelta: 3 }),
      recordBatch([text('a')], { firstOffset: 4 }),
      controlBatch('commit', { firstOffset: 5, producerId: 1 }),
    ]);
    const cursor = cursorOf(batches);
    expect(values(cursor.take({ records: 1, bytes: 1 }))).toEqual(['a']);
    expect(cursor).toMatchObject({ next: 6, isDone: true });
  });

  test('that are cut tell what they would take', () => {
    const whole = recordBatch([text('first')]);
    const cut = recordBatch([text('x'.repeat(500))], { firstOffset: 1 });
    const cursor = cursorOf(Buffer.concat([whole, cut.subarray(0, 40)]));
    expect(values(cursor.take(all))).toEqual(['first']);
    expect(cursor).toMatchObject({ next: 1, isDone: true });
    expect(spanOf(Buffer.concat([whole, cut.subarray(0, 40)]))).toEqual({
      lastOffset: 0,
      cutBytes: cut.length,
      isDamaged: false,
    });
  });
});

describe('transactions', () => {
  // Two producers: 1 aborts its records at 0 and 4, 2 commits at 2; a third writes outside of any.
  const own = { attributes: TRANSACTIONAL };
  const batches = Buffer.concat([
    recordBatch([text('a0'), text('a1')], { ...own, firstOffset: 0, producerId: 1 }),
    recordBatch([text('b2')], { ...own, firstOffset: 2, producerId: 2 }),
    recordBatch([text('p3')], { firstOffset: 3, producerId: 1 }),
    recordBatch([text('a4')], { ...own, firstOffset: 4, producerId: 1 }),
    controlBatch('abort', { firstOffset: 5, producerId: 1 }),
    controlBatch('commit', { firstOffset: 6, producerId: 2 }),
    recordBatch([{ key: Buffer.alloc(4), value: Buffer.from('c7') }], { ...own, firstOffset: 7, producerId: 1 }),
    controlBatch('commit', { firstOffset: 8, producerId: 1 }),
  ]);
  const aborted = [{ producerId: 1, firstOffset: 0 }];

  test.each([
    [0, ['b2', 'p3', 'c7']],
    [1, ['b2', 'p3', 'c7']],
    [4, ['c7']],
    [5, ['c7']],
    [8, []],
  ])('that were aborted give no records, begun at %i', (from, expected) => {
    const cursor = cursorOf(batches, { from, aborted });
    expect(values(cursor.take(all))).toEqual(expected);
    expect(cursor.next).toBe(9);
  });
});

describe('compressed batches', () => {
  const records = Array.from({ length: 50 }, (_, index) => text(`{"n":${index}}`));
  test.each([
    [1, gzipSync],
    [4, zstdCompressSync],
  ])('with codec %i are read', (codec, compress) => {
    const batch = recordBatch(records, { attributes: codec, compress: (bytes) => compress(bytes) });
    expect(values(cursorOf(batch).take(all))).toEqual(records.map(({ value }) => String(value)));
  });

  test('may not become larger than they are allowed to', () => {
    const batch = recordBatch([text('x'.repeat(100_000))], { attributes: 1, compress: (bytes) => gzipSync(bytes) });
    const cursor = new RecordCursor({ partition, batches: batch, aborted: [], from: 0, inflate: inflater(50_000) });
    expect(() => cursor.take(all)).toThrow(expect.objectContaining({ code: 'INFLATED_TOO_LARGE' }));
  });

  test.each([
    [2, 'snappy', 'snappy'],
    [3, 'lz4', 'lz4-napi'],
  ])('with codec %i name it and the package that is missing', (codec, name, missing) => {
    const without = inflater(1_000, () => {
      throw new Error('not found');
    });
    const batches = recordBatch([text('a')], { attributes: codec });
    const cursor = new RecordCursor({ partition, batches, aborted: [], from: 0, inflate: without });
    expect(() => cursor.take(all)).toThrow(
      expect.objectContaining({ code: 'CODEC_MISSING', details: { codec: name, package: missing } }),
    );
  });
});

describe('damage', () => {
  test('is told with the position, after the records before it', () => {
    const sound = recordBatch([text('a'), text('b')]);
    const broken = recordBatch([text('c')], { firstOffset: 2 });
    broken.writeUInt8(broken.readUInt8(broken.length - 2) ^ 1, broken.length - 2);
    const cursor = cursorOf(Buffer.concat([sound, broken]));
    expect(values(cursor.take(all))).toEqual(['a', 'b']);
    const damage = { code: 'LOG_DAMAGED', details: { ...partition, offset: 2 } };
    expect(() => cursor.take(all)).toThrow(expect.objectContaining(damage));
    expect(() => cursor.take(all)).toThrow(expect.objectContaining(damage));
  });

  test('of any kind is a typed error or fewer records, never a hang', () => {
    const sound = Buffer.concat([
      recordBatch([text('a'), { key: Buffer.from('k'), headers: [['h', Buffer.from('v')]] }]),
      recordBatch([text('b'.repeat(200))], {
        firstOffset: 2,
        attributes: 1 | TRANSACTIONAL,
        compress: (bytes) => gzipSync(bytes),
        producerId: 7,
      }),
      controlBatch('abort', { firstOffset: 3, producerId: 7 }),
    ]);
    const change = fc.record({ at: fc.nat(sound.length - 1), to: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), fc.nat(sound.length), (changes, length) => {
        const bytes = Buffer.from(sound.subarray(0, length));
        for (const { at, to } of changes) if (at < length) bytes[at] = to;
        expect(isTotal(bytes)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(isTotal(Buffer.from(bytes))).toBe(true);
      }),
    );
  });

  /** As above, but with a checksum that fits, so that what is behind it is reached. */
  test('behind a checksum that fits is found too', () => {
    const change = fc.record({ at: fc.integer({ min: 0, max: 60 }), to: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
        const compress = (bytes: Buffer): Buffer => {
          for (const { at, to } of changes) if (at < bytes.length) bytes[at] = to;
          return bytes;
        };
        const records = [text('a'), text('bb'), { headers: [['n', Buffer.from('v')] as const] }];
        expect(isTotal(recordBatch(records, { compress }))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  /** Whether reading comes to an end, by a typed error at worst. */
  function isTotal(bytes: Buffer): boolean {
    const cursor = cursorOf(bytes, { aborted: [{ producerId: 7, firstOffset: 2 }] });
    try {
      for (let takes = 0; !cursor.isDone; takes += 1) {
        cursor.take({ records: 1, bytes: 1 });
        if (takes > bytes.length) return false;
      }
      return true;
    } catch (error) {
      return error instanceof TidemarkError;
    }
  }
});

describe('beside kafkajs', () => {
  const content = fc.option(
    fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array()).map((value) => Buffer.from(value as string)),
    {
      nil: null,
    },
  );
  const shape = fc.record({
    firstOffset: fc.maxSafeNat().map((offset) => offset % 2 ** 50),
    timestamp: fc.nat(2 ** 31).map((seconds) => seconds * 1_000),
    isGzipped: fc.boolean(),
    records: fc.array(
      fc.record({ key: content, value: content, delta: fc.integer({ min: -1_000_000, max: 1_000_000 }) }),
      {
        minLength: 1,
        maxLength: 8,
      },
    ),
  });

  test('what it writes is read here as it reads it', async () => {
    await fc.assert(
      fc.asyncProperty(shape, async ({ firstOffset, timestamp, isGzipped, records }) => {
        const { buffer } = await kafkajs.batch({
          compression: isGzipped ? 1 : 0,
          firstOffset,
          firstTimestamp: timestamp,
          maxTimestamp: timestamp,
          lastOffsetDelta: records.length - 1,
          records: records.map(({ key, value, delta }, offsetDelta) =>
            kafkajs.record({ offsetDelta, timestampDelta: delta, key, value, headers: {} }),
          ),
        });
        const theirs = await kafkajs.decode(new kafkajs.Decoder(Buffer.from(buffer)));
        const cursor = cursorOf(Buffer.from(buffer));
        expect(
          cursor.take(all).map(({ offset, timestamp: at, key, value }) => [offset, at, bytesOf(key), bytesOf(value)]),
        ).toEqual(
          theirs.records.map((record) => [
            Number(record.offset),
            Number(record.timestamp),
            record.key?.toString('hex'),
            record.value?.toString('hex'),
          ]),
        );
        expect(cursor.next).toBe(firstOffset + records.length);
      }),
      { numRuns: 300 },
    );
  });
});
