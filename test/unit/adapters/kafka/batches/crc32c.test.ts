import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32c } from '../../../../../src/adapters/kafka/batches/crc32c.ts';

test('the checksum is CRC-32C, by the vectors of RFC 3720', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
  expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
  expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index)))).toBe(0x46dd794e);
  expect(crc32c(Buffer.alloc(0))).toBe(0);
});

test('the checksum of a part is that of the part alone, wherever it lies in memory', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(9), fc.nat(9), (bytes, before, after) => {
      const whole = Buffer.concat([Buffer.alloc(before, 1), bytes, Buffer.alloc(after, 2)]);
      expect(crc32c(whole, before, before + bytes.length)).toBe(bitByBit(bytes));
    }),
  );
});

function bitByBit(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ -1) >>> 0;
}
