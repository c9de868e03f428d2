import { BSON } from 'mongodb';
import { describe, expect, test } from 'vitest';
import {
  storedPath,
  toRowDocument,
  toStoredRow,
  valueOf,
} from '../../../../../src/adapters/mongo/read-models/row-document.ts';
import type { RefKey } from '../../../../../src/log/ref.ts';
import type { StoredRow } from '../../../../../src/read-models/stored-row.ts';

const owner = 'eshop.order/(0)/O-1' as RefKey;

describe('a row as a document', () => {
  test('has its fields at the top and its guard beside them', () => {
    const row: StoredRow = {
      id: 'O-1',
      isLive: true,
      value: { status: 'NEW' },
      guard: { kind: 'owner', owner, version: 2 ** 40, eventIndex: 2 },
    };
    const document = toRowDocument(row);
    expect(document).toEqual({
      _id: 'O-1',
      _tm: { live: true, owner, version: 1_099_511_627_776n, event: 2n },
      status: 'NEW',
    });
    expect(toStoredRow('rows', document)).toEqual({ ...row, value: {} });
    expect(valueOf(document)).toEqual(row.value);
  });

  test('keeps fields of its own whose names the store needs', () => {
    const value = { _id: 7, _tm: { a: 1 }, x: 1 };
    const guard = { kind: 'owner', owner, version: 1, eventIndex: 0 } as const;
    const document = toRowDocument({ id: 'O-1', isLive: true, value, guard });
    expect(document).toMatchObject({ _id: 'O-1', x: 1, _tm: { live: true, own: { _id: 7, _tm: { a: 1 } } } });
    expect(valueOf(document)).toEqual(value);
    expect([storedPath('_id'), storedPath('_tm.a'), storedPath('_ids')]).toEqual([
      '_tm.own._id',
      '_tm.own._tm.a',
      '_ids',
    ]);
  });

  test('of a join holds the values of its parts once', () => {
    const text = 'x'.repeat(100_000);
    const part = { owner, version: 1, eventIndex: 0 };
    const row: StoredRow = {
      id: 'O-1',
      isLive: true,
      value: { text, paid: true },
      guard: {
        kind: 'parts',
        parts: {
          'eshop.order': { ...part, fields: { text } },
          'eshop.payment': { ...part, fields: { paid: true } },
          'eshop.return': { ...part, fields: undefined },
          ['__proto__']: { ...part, fields: { aside: 1 } },
        },
      },
    };
    const document = toRowDocument(row);
    expect(BSON.calculateObjectSize(document)).toBeLessThan(101_000);
    expect(toStoredRow('joined', document).guard).toEqual(row.guard);
  });

  test('of totals holds sums and contributors', () => {
    const guard = { kind: 'contributors', contributors: 2, fields: { $inc: 1 } } as const;
    const row: StoredRow = { id: 'b-1', isLive: true, value: { n: 1.5, $inc: 2 }, guard };
    expect(toStoredRow('totals', toRowDocument(row))).toEqual(row);
    const added: StoredRow = { ...row, guard: { kind: 'contributors', contributors: undefined, fields: {} } };
    expect(toStoredRow('totals', toRowDocument(added))).toEqual(added);
  });

  test('tells of which kind it was written, whatever the model is now', () => {
    const guard = { kind: 'owner', owner, version: 1, eventIndex: 0 } as const;
    const document = toRowDocument({ id: 'O-1', isLive: true, value: {}, guard });
    expect(toStoredRow('totals', document).guard.kind).toBe('owner');
  });
});
