import { expect, test } from 'vitest';
import { nearestName } from '../../../src/config/nearest-name.ts';

test.each([
  ['recrods', ['bytes', 'records', 'wait'], 'records'],
  ['Records', ['records'], 'records'],
  ['lvel', ['format', 'level'], 'level'],
  ['statsu', ['rows', 'status', 'start'], 'status'],
])('the name nearest to %s is found', (name, known, nearest) => {
  expect(nearestName(name, known)).toBe(nearest);
});

test('no name is near to something else', () => {
  expect(nearestName('zzzzzz', ['records', 'wait'])).toBeUndefined();
  expect(nearestName('zz', [])).toBeUndefined();
});
