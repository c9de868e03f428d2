import { expect, test } from 'vitest';
import { missingActions, type Privilege } from '../../../../../src/adapters/mongo/server/rights.ts';

const readOnly = ['find', 'listCollections', 'listIndexes'];
const all = [...readOnly, 'insert', 'update', 'remove', 'createCollection', 'createIndex', 'dropIndex'];

test.each<[string, readonly Privilege[], readonly string[]]>([
  ['on the database', [{ resource: { db: 'eshop', collection: '' }, actions: all }], []],
  ['on all databases', [{ resource: { db: '', collection: '' }, actions: all }], []],
  ['on everything', [{ resource: { anyResource: true }, actions: ['anyAction'] }], []],
  ['to read', [{ resource: { db: 'eshop', collection: '' }, actions: readOnly }], all.slice(3)],
  ['on another database', [{ resource: { db: 'billing', collection: '' }, actions: all }], all],
  ['on one collection', [{ resource: { db: 'eshop', collection: 'a' }, actions: all }], all],
  [
    'in two parts',
    [
      { resource: { db: 'eshop', collection: '' }, actions: readOnly },
      { resource: { db: '', collection: '' }, actions: all.slice(3) },
    ],
    [],
  ],
])('of a user who has rights %s the missing ones are named', (_where, privileges, missing) => {
  expect(missingActions(privileges, 'eshop').toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    missing.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});
