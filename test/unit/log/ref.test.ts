import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aggregateOf, parseRef, type Ref, RefMalformedError, refOf } from '../../../src/log/ref.ts';

/** Texts over few special characters, so that many of them are spelled as encoding would spell another. */
const alikeText = fc.string({ unit: fc.constantFrom('a', '.', '/', '%', '2', 'F', ':', '@'), maxLength: 4 });

const anyRef = (text: fc.Arbitrary<string>): fc.Arbitrary<Ref> =>
  fc.record({ context: text, aggregate: text, tenantId: text, id: text });

test('parseRef gives back any ref of Unicode parts', () => {
  fc.assert(
    fc.property(anyRef(fc.string({ unit: 'binary' })), (ref) => {
      expect(parseRef(refOf(ref))).toEqual(ref);
    }),
  );
});

test('no two refs out of ten thousand that look alike have one key', () => {
  const texts = ['', 'a', '.', 'a.', '.a', '/', 'a/', '/a', '%', '%2F'];
  const keys = texts.flatMap((context) =>
    texts.flatMap((aggregate) =>
      texts.flatMap((tenantId) => texts.map((id) => refOf({ context, aggregate, tenantId, id }))),
    ),
  );
  expect(new Set(keys).size).toBe(10_000);
});

test('every text that parseRef takes is the one spelling of its ref', () => {
  const taken = fc
    .tuple(alikeText, alikeText, alikeText, alikeText)
    .map(([a, b, c, d]) => `${a}.${b}/${c}/${d}`)
    .filter(isRef);
  fc.assert(
    fc.property(taken, (text) => {
      expect(refOf(parseRef(text))).toBe(text);
    }),
  );
});

function isRef(text: string): boolean {
  try {
    parseRef(text);
    return true;
  } catch (error) {
    if (error instanceof RefMalformedError) return false;
    throw error;
  }
}

test('parts that look like separators keep two refs apart', () => {
  const ref = { context: 'a', aggregate: 'b', tenantId: 'c', id: 'd' };
  expect(refOf({ ...ref, context: 'a.b', aggregate: '' })).not.toBe(refOf({ ...ref, context: 'a', aggregate: 'b.' }));
  expect(refOf({ ...ref, tenantId: 'c/d', id: '' })).not.toBe(refOf({ ...ref, tenantId: 'c', id: 'd/' }));
});

test('a usual ref reads as it is', () => {
  expect(refOf({ context: 'example-service', aggregate: 'order', tenantId: '(0)', id: '0VcVsw2Y0007052' })).toBe(
    'example-service.order/(0)/0VcVsw2Y0007052',
  );
});

test('the aggregate of a ref is encoded as in its key, whichever was asked before', () => {
  const names = [
    { context: 'shop', aggregate: 'order' },
    { context: 'shop', aggregate: 'cart' },
    { context: 'a.b', aggregate: 'order' },
    { context: 'shop', aggregate: 'order' },
  ];
  expect(names.map(aggregateOf)).toEqual(['shop.order', 'shop.cart', 'a%2Eb.order', 'shop.order']);
});

test('lone surrogates are refused in every part', () => {
  const ref = { context: 'a', aggregate: 'b', tenantId: 'c', id: 'd' };
  for (const part of ['context', 'aggregate', 'tenantId', 'id'] as const) {
    expect(() => refOf({ ...ref, [part]: '\ud83d' })).toThrow(expect.objectContaining({ code: 'TEXT_ILL_FORMED' }));
  }
});

test.each(['', 'order', 'a.b', 'a.b/c', 'a.b/c/d/e', 'a/c/d', 'a.b.c/d/e', 'a.b/c/100%', 'a.b/c/\ud800', 'a.b/c/%ff'])(
  'the text %j is refused with the form it should have',
  (text) => {
    expect(() => parseRef(text)).toThrow(
      expect.objectContaining({
        code: 'REF_MALFORMED',
        hint: 'Write context.aggregate/tenant/id, for example eshop.order/(0)/order-1; a special character in a part is percent-encoded.',
      }),
    );
  },
);

test('a text that leaves no doubt is refused with its right spelling', () => {
  expect(() => parseRef('shop.order/(0)/a:b')).toThrow(
    expect.objectContaining({ hint: 'Write it as shop.order/(0)/a%3Ab' }),
  );
  expect(() => parseRef('shop.order/(0)/a%2fb')).toThrow(
    expect.objectContaining({ hint: 'Write it as shop.order/(0)/a%2Fb' }),
  );
});
