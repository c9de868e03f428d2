/** The Castagnoli polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78;
const STRIDE = 8;

/** Eight tables, so that eight bytes take one step. */
const tables = new Int32Array(STRIDE * 256);

for (let byte = 0; byte < 256; byte += 1) {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  tables[byte] = value;
}
for (let at = 256; at < tables.length; at += 1) {
  const before = tables[at - 256] ?? 0;
  tables[at] = (before >>> 8) ^ (tables[before & 0xff] ?? 0);
}

/** The CRC-32C of `bytes` from `from` to `to`, unsigned: what Kafka checks its record batches with. */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let crc = -1;
  let at = from;
  for (; at + STRIDE <= to; at += STRIDE) {
    crc ^=
      byteOf(bytes, at) | (byteOf(bytes, at + 1) << 8) | (byteOf(bytes, at + 2) << 16) | (byteOf(bytes, at + 3) << 24);
    crc =
      entry(7, crc) ^
      entry(6, crc >>> 8) ^
      entry(5, crc >>> 16) ^
      entry(4, crc >>> 24) ^
      entry(3, byteOf(bytes, at + 4)) ^
      entry(2, byteOf(bytes, at + 5)) ^
      entry(1, byteOf(bytes, at + 6)) ^
      entry(0, byteOf(bytes, at + 7));
  }
  for (; at < to; at += 1) crc = (crc >>> 8) ^ entry(0, crc ^ byteOf(bytes, at));
  return (crc ^ -1) >>> 0;
}

function entry(table: number, index: number): number {
  return tables[table * 256 + (index & 0xff)] ?? 0;
}

function byteOf(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
