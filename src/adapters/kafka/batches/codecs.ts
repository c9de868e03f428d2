import { createRequire } from 'node:module';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { TidemarkError } from '../../../runtime/errors.ts';
import { WireError } from '../wire/wire-error.ts';
import { tooLarge } from './inflated-too-large-error.ts';
import { lz4BytesMax } from './lz4-frame.ts';
import { unpackSnappy } from './snappy-blocks.ts';

/** Records are compressed in a way that no package here can undo. */
export class CodecMissingError extends TidemarkError {
  readonly code = 'CODEC_MISSING';
}

/** Loads a package that the app installed, or throws. */
export type LoadPackage = (name: string) => unknown;

/** Undoes compression. Throws `CODEC_MISSING`, `INFLATED_TOO_LARGE`, `WireError`. */
export type Inflate = (codec: number, bytes: Buffer) => Buffer;

type Undo = (bytes: Buffer, bytesMax: number) => Buffer;

const GZIP = 1;
const SNAPPY = 2;
const LZ4 = 3;
const ZSTD = 4;

/** `inflatedBytesMax` bounds what one batch may become. */
export function inflater(inflatedBytesMax: number, loadPackage: LoadPackage = createRequire(import.meta.url)): Inflate {
  const undoing = new Map<number, Undo>();
  return (codec, bytes) => {
    let undo = undoing.get(codec);
    if (undo === undefined) {
      undo = undoOf(codec, loadPackage);
      undoing.set(codec, undo);
    }
    try {
      return undo(bytes, inflatedBytesMax);
    } catch (error) {
      if (isTooLarge(error)) throw tooLarge(inflatedBytesMax, error);
      if (error instanceof TidemarkError) throw error;
      throw new WireError('the records cannot be decompressed', { cause: error });
    }
  };
}

function undoOf(codec: number, loadPackage: LoadPackage): Undo {
  switch (codec) {
    case GZIP:
      return (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength });
    case ZSTD:
      return (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength });
    case SNAPPY: {
      const { uncompressSync } = optionalPackage({ codec: 'snappy', name: 'snappy' }, loadPackage) as Snappy;
      return (bytes, bytesMax) => unpackSnappy(bytes, { bytesMax, uncompress: (block) => uncompressSync(block) });
    }
    case LZ4: {
      const { decompressFrameSync } = optionalPackage({ codec: 'lz4', name: 'lz4-napi' }, loadPackage) as Lz4;
      return (bytes, bytesMax) => {
        // The package has no bound of its own.
        if (lz4BytesMax(bytes) > bytesMax) throw tooLarge(bytesMax);
        return Buffer.from(decompressFrameSync(bytes));
      };
    }
    default:
      throw new CodecMissingError(`Records are compressed with codec ${codec}, which is not known here.`, {
        details: { codec },
        hint: 'Let producers use gzip, zstd, snappy or lz4.',
      });
  }
}

type Snappy = { readonly uncompressSync: (bytes: Buffer) => Uint8Array };
type Lz4 = { readonly decompressFrameSync: (bytes: Buffer) => Uint8Array };

function optionalPackage(
  { codec, name }: { readonly codec: string; readonly name: string },
  loadPackage: LoadPackage,
): unknown {
  try {
    return loadPackage(name);
  } catch (cause) {
    throw new CodecMissingError(`Records are compressed with ${codec}, and the package ${name} is not installed.`, {
      details: { codec, package: name },
      hint: `Install it beside Tidemark: npm install ${name}`,
      cause,
    });
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
}
