import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  countVersions,
  includesVersion,
  SeenVersions,
  type VersionRanges,
  withoutVersions,
} from '../../../src/read-models/version-ranges.ts';

const versions = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 40 });

function rangesOf(list: readonly number[]): VersionRanges {
  const seen = new SeenVersions();
  for (const version of list) seen.add(version);
  return seen.ranges;
}

function listOf(ranges: VersionRanges): readonly number[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
}

function ascending(list: Iterable<number>): readonly number[] {
  return [...list].toSorted((a, b) => a - b);
}

describe('versions seen', () => {
  test('are kept as ordered ranges that do not touch, in whatever order they come', () => {
    fc.assert(
      fc.property(versions, (list) => {
        const ranges = rangesOf([...list, ...list.slice(0, 3)]);
        expect(listOf(ranges)).toEqual(ascending(list));
        const distances = ranges.slice(1).map(({ from }, nth) => from - (ranges[nth]?.to ?? from));
        expect(distances.every((distance) => distance > 1)).toBe(true);
      }),
    );
  });

  test('join two ranges when the version between them comes', () => {
    expect(rangesOf([1, 3, 2])).toEqual([{ from: 1, to: 3 }]);
  });

  test('are found and counted', () => {
    fc.assert(
      fc.property(versions, fc.integer({ min: 0, max: 41 }), (list, version) => {
        const ranges = rangesOf(list);
        expect(includesVersion(ranges, version)).toBe(list.includes(version));
        expect(countVersions(ranges)).toBe(list.length);
      }),
    );
  });
});

test('taking versions out leaves the others', () => {
  fc.assert(
    fc.property(versions, versions, (list, taken) => {
      const left = withoutVersions(rangesOf(list), rangesOf(taken));
      expect(listOf(left)).toEqual(ascending(new Set(list).difference(new Set(taken))));
    }),
  );
});

test('one range taken out of two of the others is taken out of both', () => {
  const ranges = [
    { from: 1, to: 4 },
    { from: 8, to: 10 },
  ];
  expect(withoutVersions(ranges, [{ from: 3, to: 9 }])).toEqual([
    { from: 1, to: 2 },
    { from: 10, to: 10 },
  ]);
});
