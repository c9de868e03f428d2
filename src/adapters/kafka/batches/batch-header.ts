import { WireError } from '../wire/wire-error.ts';
import type { WireReader } from '../wire/wire-reader.ts';

/** What stands before the records of a batch (magic 2). */
export type BatchHeader = {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly firstTimestamp: number;
  readonly maxTimestamp: number;
  readonly producerId: number;
  readonly recordCount: number;
  readonly codec: number;
  /** The broker stamped all its records with `maxTimestamp`. */
  readonly isStampedByLog: boolean;
  readonly isTransactional: boolean;
  readonly isControl: boolean;
  /** The checksum, and where the bytes begin that it is taken over. */
  readonly checksum: number;
  readonly checkedFrom: number;
  /** Where the records begin, and where the batch ends. */
  readonly recordsFrom: number;
  readonly end: number;
};

/** Bytes up to the batch's length, and those its length must count at least. */
const LENGTH_END = 12;
const LENGTH_MIN = 49;
/** No broker takes a batch that is larger. */
const LENGTH_MAX = 1024 * 1024 * 1024;
const MAGIC = 2;

/** A batch that goes on after what was fetched: how many bytes it takes in all, if that much is known. */
export type CutBatch = { readonly kind: 'cut'; readonly bytes: number };

export type ReadBatch = { readonly kind: 'batch'; readonly header: BatchHeader } | CutBatch;

/** Reads the header that begins where the reader stands, which stays there. Throws `WireError`. */
export function readBatchHeader(from: WireReader): ReadBatch {
  const start = from.at;
  if (from.left < LENGTH_END) return { kind: 'cut', bytes: 0 };
  try {
    const firstOffset = from.int64();
    const length = from.int32();
    if (length < LENGTH_MIN) throw new WireError('a record batch is shorter than its header');
    if (length > LENGTH_MAX) throw new WireError('a record batch is larger than any may be');
    if (length > from.left) return { kind: 'cut', bytes: LENGTH_END + length };
    const end = from.at + length;
    from.int32();
    const magic = from.int8();
    if (magic !== MAGIC) throw new WireError(`a record batch has the format ${magic}, not ${MAGIC}`);
    const checksum = from.uint32();
    const checkedFrom = from.at;
    const attributes = from.int16();
    const lastOffset = firstOffset + from.int32();
    const firstTimestamp = from.int64();
    const maxTimestamp = from.int64();
    const producerId = from.int64();
    from.skip(6);
    const recordCount = from.int32();
    if (lastOffset < firstOffset || recordCount < 0) throw new WireError('a record batch counts backwards');
    return {
      kind: 'batch',
      header: {
        firstOffset,
        lastOffset,
        firstTimestamp,
        maxTimestamp,
        producerId,
        recordCount,
        codec: attributes & 0x07,
        isStampedByLog: (attributes & 0x08) !== 0,
        isTransactional: (attributes & 0x10) !== 0,
        isControl: (attributes & 0x20) !== 0,
        checksum,
        checkedFrom,
        recordsFrom: from.at,
        end,
      },
    };
  } finally {
    from.at = start;
  }
}
