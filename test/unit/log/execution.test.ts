import fc from 'fast-check';
import { expect, test } from 'vitest';
import { executionId, invocationKey } from '../../../src/log/execution.ts';
import { type Ref, refOf } from '../../../src/log/ref.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.string({ unit: fc.constantFrom('a', ':', '@', '1', 'é', '%', 'C', '3', 'A', '9'), maxLength: 6 }),
  fc.string({ unit: 'binary', minLength: 60, maxLength: 120 }),
);
const invocation = fc.record({
  subscription: text,
  ref: fc.record({ context: text, aggregate: text, tenantId: text, id: text }),
  version: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  eventIndex: fc.option(fc.nat({ max: 999_999_999 }), { nil: undefined }),
});

type Invocation = {
  readonly subscription: string;
  readonly ref: Ref;
  readonly version: number;
  readonly eventIndex: number | undefined;
};

const keyOf = ({ subscription, ref, version, eventIndex }: Invocation) =>
  invocationKey(executionId(subscription, refOf(ref), version), eventIndex);

const order: Ref = { context: 'eshop', aggregate: 'order', tenantId: '(0)', id: 'order-1' };

test('an execution names subscription, ref and version, an invocation the event too', () => {
  const execution = executionId('ShipmentNotifier.onOrderShipped', refOf(order), 3);
  expect(execution).toBe('ShipmentNotifier.onOrderShipped:eshop.order/(0)/order-1@3');
  expect(invocationKey(execution, 0)).toBe('ShipmentNotifier.onOrderShipped:eshop.order/(0)/order-1@3:0');
  expect(invocationKey(execution)).toBe(execution);
});

test('a key is printable ASCII of at most 255 characters without space at its ends', () => {
  fc.assert(
    fc.property(invocation, (value) => {
      const key = keyOf(value);
      expect(key).toMatch(/^[ -~]{1,255}$/);
      expect(key.at(-1)).not.toBe(' ');
    }),
  );
});

test('no two invocations that look alike have one key', () => {
  const texts = ['', 'a', 'é', '%C3%A9', ':', ':a', '@1', '@1:1', 'x'.repeat(300), `${'x'.repeat(300)}@1`];
  const keys = texts.flatMap((subscription) =>
    texts.flatMap((id) =>
      [1, 11].flatMap((version) =>
        [undefined, 0, 1, 11].map((eventIndex) => keyOf({ subscription, ref: { ...order, id }, version, eventIndex })),
      ),
    ),
  );
  expect(new Set(keys).size).toBe(texts.length ** 2 * 2 * 4);
});

test('what is not ASCII is percent-encoded, and apart from text that spells the same', () => {
  expect(executionId('S.f', refOf({ ...order, id: 'é' }), 1)).toBe('S.f:eshop.order/(0)/%C3%A9@1');
  expect(executionId('S.f', refOf({ ...order, id: '%C3%A9' }), 1)).toBe('S.f:eshop.order/(0)/%25C3%25A9@1');
});

test('a long key keeps its head, and differs where only its cut tail differs', () => {
  const id = 'x'.repeat(300);
  const one = executionId('S.f', refOf({ ...order, id }), 1);
  const other = executionId('S.f', refOf({ ...order, id }), 2);
  expect(one).toMatch(/^S\.f:eshop\.order\/\(0\)\/x+~[0-9a-f]{64}$/);
  expect(one).toHaveLength(245);
  expect(other).not.toBe(one);
  expect(invocationKey(one, 12)).toBe(`${one}:12`);
});

test('a key of 255 characters stays whole, one of 256 does not', () => {
  const fitting = executionId('S.f', refOf({ ...order, id: 'x'.repeat(255 - 'S.f:eshop.order/(0)/@1'.length) }), 1);
  expect(fitting).toMatch(/x@1$/);
  expect(fitting).toHaveLength(255);
  expect(invocationKey(fitting, 0)).toMatch(/^S\.f:.*~[0-9a-f]{64}$/);
  expect(
    executionId('S.f', refOf({ ...order, id: 'x'.repeat(256 - 'S.f:eshop.order/(0)/@1'.length) }), 1),
  ).toHaveLength(245);
});
