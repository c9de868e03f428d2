import { describe, expect, test } from 'vitest';
import { inflater, type LoadPackage } from '../../../../../src/adapters/kafka/batches/codecs.ts';
import { lz4BytesMax } from '../../../../../src/adapters/kafka/batches/lz4-frame.ts';
import { WireWriter } from '../../../../../src/adapters/kafka/wire/wire-writer.ts';

const SNAPPY = 2;
const LZ4 = 3;

/** Stand-ins for the packages: a block is its length and then its text, as it is. */
const packages: LoadPackage = (name) =>
  name === 'snappy'
    ? { uncompressSync: (bytes: Buffer) => bytes.subarray(1) }
    : { decompressFrameSync: (bytes: Buffer) => bytes.subarray(7) };

function block(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}

describe('snappy', () => {
  const java = [Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]), Buffer.alloc(8)];
  const framed = Buffer.concat([
    ...java,
    ...['ab', 'cde'].flatMap((text) => [new WireWriter().int32(text.length + 1).bytes, block(text)]),
  ]);

  test('is read as one block, and as the blocks of Java producers', () => {
    const inflate = inflater(100, packages);
    expect(inflate(SNAPPY, block('whole')).toString()).toBe('whole');
    expect(inflate(SNAPPY, framed).toString()).toBe('abcde');
  });

  test('is refused before it is decompressed where it would become too large', () => {
    expect(() => inflater(4, packages)(SNAPPY, framed)).toThrow(
      expect.objectContaining({ code: 'INFLATED_TOO_LARGE' }),
    );
  });

  test('that is cut cannot be read', () => {
    expect(() => inflater(100, packages)(SNAPPY, framed.subarray(0, 22))).toThrow('cannot be decompressed');
  });
});

describe('lz4', () => {
  /** Blocks of at most 64 KiB, with no more content than this. */
  function frame(...sizes: readonly number[]): Buffer {
    const blocks = sizes.map((size) => {
      const word = Buffer.alloc(4 + size);
      word.writeUInt32LE(size);
      return word;
    });
    return Buffer.concat([Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0]), ...blocks, Buffer.alloc(4)]);
  }

  test('becomes at most as large as its blocks may be', () => {
    expect(lz4BytesMax(frame())).toBe(0);
    expect(lz4BytesMax(frame(10, 20))).toBe(2 * 65_536);
    expect(() => lz4BytesMax(Buffer.from('no frame'))).toThrow('magic');
  });

  test('is handed to its package where it is within bounds', () => {
    expect(inflater(65_536, packages)(LZ4, frame(3))).toHaveLength(11);
    expect(() => inflater(65_535, packages)(LZ4, frame(3))).toThrow(
      expect.objectContaining({ code: 'INFLATED_TOO_LARGE' }),
    );
  });
});

test('an unknown codec is named', () => {
  expect(() => inflater(1)(7, Buffer.alloc(0))).toThrow(
    expect.objectContaining({ code: 'CODEC_MISSING', details: { codec: 7 } }),
  );
});
