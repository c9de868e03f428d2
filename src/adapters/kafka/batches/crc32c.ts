/** The Castagnoli polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78;
const TABLES = 16;

/** Sixteen tables, so that sixteen bytes take one step: the checksum costs as much as all other decoding otherwise. */
const tables = new Int32Array(TABLES * 256);

for (let byte = 0; byte < 256; byte += 1) {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  tables[byte] = value;
}
for (let at = 256; at < tables.length; at += 1) {
  const before = entry(at - 256);
  tables[at] = (before >>> 8) ^ entry(before & 0xff);
}

/** Whether words are read as the loop below expects them; on other machines it takes bytes. */
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** The CRC-32C of `bytes` from `from` to `to`, unsigned: what Kafka checks its record batches with. */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length): number {
  // Words must begin where words may.
  const aligned = Math.min(to, from + ((4 - ((bytes.byteOffset + from) & 3)) & 3));
  const wordCount = isLittleEndian ? (to - aligned) >>> 2 : 0;
  const blocksEnd = wordCount - (wordCount % 4);
  if (blocksEnd === 0) return (overBytes(-1, bytes.subarray(from, to)) ^ -1) >>> 0;
  const before = overBytes(-1, bytes.subarray(from, aligned));
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, blocksEnd);
  const after = overWords(before, words);
  return (overBytes(after, bytes.subarray(aligned + blocksEnd * 4, to)) ^ -1) >>> 0;
}

function overBytes(start: number, bytes: Uint8Array): number {
  let crc = start;
  for (const byte of bytes) crc = (crc >>> 8) ^ entry((crc ^ byte) & 0xff);
  return crc;
}

/** Four words at a time. */
function overWords(start: number, words: Int32Array): number {
  let crc = start;
  for (let at = 0; at < words.length; at += 4) {
    crc =
      ofWord(12, crc ^ wordAt(words, at)) ^
      ofWord(8, wordAt(words, at + 1)) ^
      ofWord(4, wordAt(words, at + 2)) ^
      ofWord(0, wordAt(words, at + 3));
  }
  return crc;
}

/** What a word gives that has `table` more bytes behind it in its block. */
function ofWord(table: number, word: number): number {
  const at = table * 256;
  return (
    entry(at + 768 + (word & 0xff)) ^
    entry(at + 512 + ((word >>> 8) & 0xff)) ^
    entry(at + 256 + ((word >>> 16) & 0xff)) ^
    entry(at + (word >>> 24))
  );
}

/** Indices are within bounds by construction. */
function entry(index: number): number {
  return tables[index] as number;
}

function wordAt(words: Int32Array, index: number): number {
  return words[index] as number;
}
