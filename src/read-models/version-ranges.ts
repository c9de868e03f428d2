import type { VersionRange } from './source-record.ts';

/** Ranges are ordered and apart: the next begins at least two above the end of the one before. */
export type VersionRanges = readonly VersionRange[];

export function includesVersion(ranges: VersionRanges, version: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined || version < range.from) high = middle - 1;
    else if (version > range.to) low = middle + 1;
    else return true;
  }
  return false;
}

export function countVersions(ranges: VersionRanges): number {
  return ranges.reduce((count, { from, to }) => count + to - from + 1, 0);
}

/** What is in `ranges` and not in `taken`. */
export function withoutVersions(ranges: VersionRanges, taken: VersionRanges): VersionRanges {
  const left: VersionRange[] = [];
  let next = 0;
  for (const range of ranges) {
    let from = range.from;
    while (next < taken.length && endOf(taken, next) < from) next += 1;
    // The last one taken may reach into the next range: look at it again there.
    for (let i = next; from <= range.to; i += 1) {
      const cut = taken[i];
      if (cut === undefined || cut.from > range.to) {
        left.push({ from, to: range.to });
        break;
      }
      if (cut.from > from) left.push({ from, to: cut.from - 1 });
      from = Math.max(from, cut.to + 1);
    }
  }
  return left;
}

function endOf(ranges: VersionRanges, index: number): number {
  return ranges[index]?.to ?? Number.POSITIVE_INFINITY;
}

/** The versions of one aggregate that a window saw. */
export class SeenVersions {
  readonly #ranges: { from: number; to: number }[] = [];

  get ranges(): VersionRanges {
    return this.#ranges;
  }

  has(version: number): boolean {
    return includesVersion(this.#ranges, version);
  }

  /** Most often the version is the next one. */
  add(version: number): void {
    let after = this.#ranges.length;
    while (after > 0 && (this.#ranges[after - 1]?.from ?? 0) > version) after -= 1;
    const below = this.#ranges[after - 1];
    const above = this.#ranges[after];
    if (below !== undefined && version <= below.to) return;
    const joinsBelow = below !== undefined && below.to + 1 === version;
    const joinsAbove = above !== undefined && above.from - 1 === version;
    if (joinsBelow && joinsAbove) {
      below.to = above.to;
      this.#ranges.splice(after, 1);
    } else if (joinsBelow) below.to = version;
    else if (joinsAbove) above.from = version;
    else this.#ranges.splice(after, 0, { from: version, to: version });
  }
}
