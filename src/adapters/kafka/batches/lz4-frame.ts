import { WireError } from '../wire/wire-error.ts';

const MAGIC = 0x184d2204;
const HAS_CONTENT_SIZE = 0x08;
const HAS_DICTIONARY = 0x01;
const HAS_BLOCK_CHECKSUMS = 0x10;
const IS_UNCOMPRESSED = 0x8000_0000;

/** At most how many bytes an LZ4 frame becomes, by the number of its blocks and their size. Throws `WireError`. */
export function lz4BytesMax(frame: Buffer): number {
  if (frame.length < 7 || frame.readUInt32LE(0) !== MAGIC) throw new WireError('an LZ4 frame begins with its magic');
  const flags = frame.readUInt8(4);
  const sizeClass = (frame.readUInt8(5) >>> 4) & 0x07;
  const blockMax = 2 ** (8 + 2 * Math.max(4, sizeClass));
  let at = 7 + (flags & HAS_CONTENT_SIZE ? 8 : 0) + (flags & HAS_DICTIONARY ? 4 : 0);
  const trailer = flags & HAS_BLOCK_CHECKSUMS ? 4 : 0;
  let bytes = 0;
  while (at + 4 <= frame.length) {
    const word = frame.readUInt32LE(at);
    if (word === 0) break;
    bytes += blockMax;
    at += 4 + (word % IS_UNCOMPRESSED) + trailer;
  }
  return bytes;
}
