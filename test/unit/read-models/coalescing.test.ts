import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RefKey } from '../../../src/log/ref.ts';
import type { HandledCommit } from '../../../src/read-models/handled-commit.ts';
import { type History, history, type ModelName } from '../../support/handled-history.ts';
import { MemoryReadModel } from '../../support/memory-read-model.ts';
import { membersOf, referenceRows } from '../../support/reference-read-model.ts';
import { deliver, keepsSources, steps } from '../../support/window-delivery.ts';

const functions: readonly (readonly ModelName[])[] = [
  ['plain'],
  ['moving'],
  ['joined'],
  ['contributed'],
  ['added'],
  ['plain', 'joined'],
  ['moving', 'contributed', 'added'],
  ['plain', 'moving', 'joined', 'contributed', 'added'],
];

type ById = ReadonlyMap<string, unknown>;

function rowsSeen(store: MemoryReadModel, { models }: History): readonly unknown[] {
  return models.map((model) => [model.name, membersById(store.visibleRows(model))]);
}

function rowsExpected({ models, commits }: History): readonly unknown[] {
  return models.map((model) => [model.name, membersById(referenceRows(model, commits))]);
}

function membersById(rows: ById): readonly unknown[] {
  return [...rows].map(([id, row]) => [id, membersOf(row)]);
}

type Versions = {
  readonly ref: RefKey;
  readonly version: number;
  readonly missing: readonly number[];
  readonly decided: number;
};

function versionsSeen(store: MemoryReadModel, { commits }: History): readonly (Versions | undefined)[] {
  return refsOf(commits).map((ref) => {
    const source = store.source(ref);
    if (source === undefined) return undefined;
    const { version, decided } = source;
    const missing = source.missing.flatMap(({ from, to }) =>
      Array.from({ length: to - from + 1 }, (_, nth) => from + nth),
    );
    return { ref, version, missing, decided };
  });
}

/** What was delivered of each aggregate, counted anew. */
function versionsExpected({ models, commits }: History): readonly (Versions | undefined)[] {
  return refsOf(commits).map((ref) => {
    if (!keepsSources(models)) return undefined;
    const own = commits.filter((commit) => commit.ref === ref);
    const version = Math.max(...own.map((commit) => commit.version));
    const all = Array.from({ length: version }, (_, nth) => nth + 1);
    const decided = Math.max(0, ...own.filter(({ calls }) => calls.length > 0).map((commit) => commit.version));
    return { ref, version, missing: all.filter((each) => !own.some((commit) => commit.version === each)), decided };
  });
}

function refsOf(commits: readonly HandledCommit[]): readonly RefKey[] {
  return [...new Set(commits.map(({ ref }) => ref))];
}

/** They take a second at most; the rest is for a busy machine. */
const timeoutMs = 20_000;

describe('a read model after any delivery equals the one after exactly one delivery in version order', () => {
  for (const names of functions) {
    test(`of a function that writes ${names.join(', ')}`, { timeout: timeoutMs }, () => {
      const property = fc.property(history(names), steps, (delivered, windows) => {
        const store = new MemoryReadModel();
        deliver({ store, ...delivered }, windows);
        expect(rowsSeen(store, delivered)).toEqual(rowsExpected(delivered));
        expect(versionsSeen(store, delivered)).toEqual(versionsExpected(delivered));
      });
      fc.assert(property, { numRuns: 100 });
    });
  }
});

test('what a store holds does not tell how the commits were delivered', { timeout: timeoutMs }, () => {
  const histories = history(['plain', 'moving', 'joined', 'contributed', 'added']);
  const property = fc.property(histories, steps, fc.func(fc.nat()), (delivered, windows, rank) => {
    const one = new MemoryReadModel();
    const other = new MemoryReadModel();
    const shuffled = delivered.commits.toSorted((a, b) => rank(a.ref, a.version) - rank(b.ref, b.version));
    deliver({ store: one, ...delivered }, windows);
    deliver({ store: other, models: delivered.models, commits: shuffled }, []);
    expect(contentOf(other, delivered)).toEqual(contentOf(one, delivered));
  });
  fc.assert(property, { numRuns: 60 });
});

/** To the letter, the order of members too. Of rows that are guarded by themselves the guard is the last write's. */
function contentOf(store: MemoryReadModel, { models, commits }: History): readonly string[] {
  const rows = models.flatMap((model) =>
    [...store.visibleRows(model)].map(([id, row]) => {
      const guard = model.kind === 'totals' ? store.row(model, id)?.guard : undefined;
      return `${model.name}/${id} ${JSON.stringify([row, guard])}`;
    }),
  );
  return [...rows, ...refsOf(commits).map((ref) => JSON.stringify(store.source(ref)))];
}
