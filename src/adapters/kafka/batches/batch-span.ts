import { WireError } from '../wire/wire-error.ts';
import { WireReader } from '../wire/wire-reader.ts';
import { readBatchHeader } from './batch-header.ts';

export type BatchSpan = {
  /** Of the last whole batch; `undefined` where there is none. */
  readonly lastOffset: number | undefined;
  /** How many bytes the batch takes that is cut at the end; 0: none is. */
  readonly cutBytes: number;
  /** Whether what follows cannot be a batch. */
  readonly isDamaged: boolean;
};

/** How far record batches reach, by their headers alone. */
export function spanOf(batches: Buffer): BatchSpan {
  const reader = new WireReader(batches);
  let lastOffset: number | undefined;
  try {
    for (;;) {
      const read = readBatchHeader(reader);
      if (read.kind === 'cut') {
        const cutBytes = reader.left === 0 ? 0 : Math.max(read.bytes, reader.left + 1);
        return { lastOffset, cutBytes, isDamaged: false };
      }
      lastOffset = read.header.lastOffset;
      reader.at = read.header.end;
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { lastOffset, cutBytes: 0, isDamaged: true };
  }
}
