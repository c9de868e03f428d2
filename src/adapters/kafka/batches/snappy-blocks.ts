import { WireReader } from '../wire/wire-reader.ts';
import { tooLarge } from './inflated-too-large-error.ts';

/** What Java's producers put before their blocks. */
const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const FRAME_HEADER = 16;

export type SnappyOptions = { readonly bytesMax: number; readonly uncompress: (block: Buffer) => Uint8Array };

/** Undoes snappy: one raw block, or several in the framing of Java's library. Blocks say themselves how large they become. */
export function unpackSnappy(bytes: Buffer, { bytesMax, uncompress }: SnappyOptions): Buffer {
  const blocks = bytes.subarray(0, MAGIC.length).equals(MAGIC) ? blocksOf(bytes) : [bytes];
  const size = blocks.reduce((sum, block) => sum + new WireReader(block).uvarint(), 0);
  if (size > bytesMax) throw tooLarge(bytesMax);
  return Buffer.concat(blocks.map((block) => uncompress(block)));
}

function blocksOf(bytes: Buffer): readonly Buffer[] {
  const from = new WireReader(bytes);
  from.skip(FRAME_HEADER);
  const blocks: Buffer[] = [];
  while (from.left > 0) blocks.push(from.slice(from.int32()));
  return blocks;
}
