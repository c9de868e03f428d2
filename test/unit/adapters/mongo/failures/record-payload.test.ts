import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromPieces, type Payload, toPieces } from '../../../../../src/adapters/mongo/failures/record-payload.ts';

const text = fc.oneof(fc.constant(undefined), fc.string({ unit: 'grapheme' }), fc.uint8Array());
const payloads: fc.Arbitrary<Payload> = fc.record({
  key: text,
  value: text,
  headers: fc.array(fc.tuple(fc.string(), text)),
});

/** Bytes come in several classes. */
function comparable({ key, value, headers }: Payload): unknown {
  const bytes = (each: Payload['key']) => (each instanceof Uint8Array ? [...each] : each);
  return [bytes(key), bytes(value), headers.map(([name, each]) => [name, bytes(each)])];
}

test('a payload comes back from its pieces as it was', () => {
  fc.assert(
    fc.property(payloads, (payload) => {
      expect(comparable(fromPieces(toPieces(payload)))).toEqual(comparable(payload));
    }),
  );
});

test('a payload beyond 8 MiB is cut up, also inside of a character', () => {
  const payload: Payload = { key: 'k', value: `x${'😀'.repeat(5 * 1024 * 1024)}`, headers: [] };
  const pieces = toPieces(payload);
  expect(pieces).toHaveLength(3);
  expect(Math.max(...pieces.map(({ length }) => length))).toBe(8 * 1024 * 1024);
  expect(fromPieces(pieces).value === payload.value).toBe(true);
});
