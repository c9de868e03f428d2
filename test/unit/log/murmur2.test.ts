import { expect, test } from 'vitest';
import { murmur2, partitionOf } from '../../../src/log/murmur2.ts';
import { goldenRecords } from '../../support/golden-records.ts';

test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
  ['0', 971027396],
  ['2187', -1508407203],
  ['1', -1993445489],
  ['12', 126087238],
  ['123', -267702483],
])('%j hashes to %i as in the Java client', (text, hash) => {
  expect(murmur2(new TextEncoder().encode(text))).toBe(hash);
});

test('bytes inside a larger buffer hash as if they stood alone', () => {
  const larger = new TextEncoder().encode('..foobar..');
  expect(murmur2(larger.subarray(2, 8))).toBe(-790332482);
});

test('every genuine record lies in the partition its key is given', () => {
  const partitionsOf = (topic: string) => (topic.includes('.cart.') ? 2 : 3);
  for (const { topic, key, partition } of goldenRecords()) {
    expect({ topic, key, partition: partitionOf(key, partitionsOf(topic)) }).toEqual({ topic, key, partition });
  }
});

test('a key is hashed as UTF-8, and a negative hash gives a partition too', () => {
  expect(partitionOf('21', 7)).toBe((-973932308 & 0x7fffffff) % 7);
  expect(partitionOf('ключ', 1_000)).toBe((murmur2(new TextEncoder().encode('ключ')) & 0x7fffffff) % 1_000);
});
