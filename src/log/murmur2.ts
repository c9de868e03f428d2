const seed = 0x9747b28c;
const multiplier = 0x5bd1e995;

/** The 32-bit murmur2 hash, signed, that Kafka's Java client takes of a record's key. */
export function murmur2(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wholeWords = bytes.length - (bytes.length % 4);
  let hash = seed ^ bytes.length;
  for (let at = 0; at < wholeWords; at += 4) {
    const word = Math.imul(view.getInt32(at, true), multiplier);
    hash = Math.imul(hash, multiplier) ^ Math.imul(word ^ (word >>> 24), multiplier);
  }
  if (wholeWords < bytes.length) {
    for (let at = bytes.length - 1; at >= wholeWords; at -= 1) hash ^= view.getUint8(at) << (8 * (at - wholeWords));
    hash = Math.imul(hash, multiplier);
  }
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}

const utf8 = new TextEncoder();

/** The partition that Kafka's default partitioner gives a key, so that one aggregate stays in one partition for every producer. */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(utf8.encode(key)) & 0x7fffffff) % partitions;
}
