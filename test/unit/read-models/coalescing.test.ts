import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type History, history, type ModelName } from '../../support/handled-history.ts';
import { MemoryReadModel } from '../../support/memory-read-model.ts';
import { referenceRows } from '../../support/reference-read-model.ts';
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

/** As text, in the order of names: fields may be called `__proto__`, which `toEqual` does not compare. */
function textOf(rows: ReadonlyMap<string, unknown>): readonly string[] {
  return [...rows].map(([id, row]) => `${id} ${JSON.stringify(Object.entries(row ?? {}).toSorted())}`);
}

function expectReference(store: MemoryReadModel, { models, commits }: History): void {
  for (const model of models) {
    expect(textOf(store.visibleRows(model)), model.name).toEqual(textOf(referenceRows(model, commits)));
  }
}

/** What was delivered of each aggregate, counted anew. */
function expectSources(store: MemoryReadModel, { models, commits }: History): void {
  if (!keepsSources(models)) return;
  for (const [ref, own] of Map.groupBy(commits, (commit) => commit.ref)) {
    const versions = new Set(own.map(({ version }) => version));
    const version = Math.max(...versions);
    const missing = Array.from({ length: version }, (_, index) => index + 1).filter((each) => !versions.has(each));
    const source = store.source(ref);
    expect(source?.version).toBe(version);
    expect(source?.decided).toBe(
      Math.max(0, ...own.filter(({ calls }) => calls.length > 0).map((each) => each.version)),
    );
    expect(
      source?.missing.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index)),
    ).toEqual(missing);
  }
}

/** They take a second at most; the rest is for a busy machine. */
const timeoutMs = 20_000;

describe('a read model after any delivery equals the one after exactly one delivery in version order', () => {
  test.each(functions.map((names) => ({ names, label: names.join(', ') })))(
    'of a function that writes $label',
    ({ names }) => {
      fc.assert(
        fc.property(history(names), steps, (delivered, windows) => {
          const store = new MemoryReadModel();
          deliver({ store, ...delivered }, windows);
          expectReference(store, delivered);
          expectSources(store, delivered);
        }),
        { numRuns: 100 },
      );
    },
    timeoutMs,
  );
});

test(
  'what a store holds does not tell how the commits were delivered',
  () => {
    fc.assert(
      fc.property(
        history(['plain', 'moving', 'joined', 'contributed', 'added']),
        steps,
        fc.func(fc.nat()),
        (delivered, windows, rank) => {
          const one = new MemoryReadModel();
          const other = new MemoryReadModel();
          const shuffled = delivered.commits.toSorted((a, b) => rank(a.ref, a.version) - rank(b.ref, b.version));
          deliver({ store: one, ...delivered }, windows);
          deliver({ store: other, models: delivered.models, commits: shuffled }, []);
          for (const model of delivered.models) {
            for (const [id, row] of one.visibleRows(model)) {
              const there = other.row(model, id);
              expect(JSON.stringify(there?.value)).toBe(JSON.stringify(row));
              if (model.kind === 'totals') expect(there?.guard).toEqual(one.row(model, id)?.guard);
            }
          }
          for (const ref of new Set(delivered.commits.map((commit) => commit.ref))) {
            expect(JSON.stringify(other.source(ref))).toBe(JSON.stringify(one.source(ref)));
          }
        },
      ),
      { numRuns: 60 },
    );
  },
  timeoutMs,
);
