import type { RefKey } from '../../src/log/ref.ts';
import type { HandledCommit } from '../../src/read-models/handled-commit.ts';
import type { ModelShape } from '../../src/read-models/model-shape.ts';
import type { Write } from '../../src/read-models/write.ts';

/** Amounts of generated totals are multiples of this, so that whole numbers can be summed. */
const unitsPerOne = 100;

/**
 * A row's members in the order of names, to compare: a member may be called `__proto__`, which matchers pass over.
 */
export function membersOf(row: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(row ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

type Rows = Map<string, Map<string, unknown>>;

/**
 * What a read model holds after each commit was delivered exactly once, an aggregate's in the order of versions. It
 * knows no guards, no windows and no source records: every commit is applied as it is, one by one.
 */
export function referenceRows(model: ModelShape, commits: readonly HandledCommit[]): ReadonlyMap<string, unknown> {
  const ordered = once(commits).toSorted((a, b) => a.version - b.version);
  const rows = rowsOf(model, ordered);
  return new Map(
    [...rows].map(([id, fields]) => [id, Object.fromEntries(fields)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function once(commits: readonly HandledCommit[]): readonly HandledCommit[] {
  return [...new Map(commits.map((commit) => [`${commit.ref}@${commit.version}`, commit])).values()];
}

function rowsOf(model: ModelShape, commits: readonly HandledCommit[]): Rows {
  switch (model.kind) {
    case 'rows':
      return plainRows(model, commits);
    case 'moves':
      return heldRows(model, commits);
    case 'joined':
      return joinedRows(model, commits);
    case 'totals':
      return totalsRows(model, commits);
  }
}

function plainRows(model: ModelShape, commits: readonly HandledCommit[]): Rows {
  const rows: Rows = new Map();
  for (const write of writesTo(model, commits)) {
    if (write.kind === 'put') rows.set(write.id, new Map(Object.entries(write.row)));
    if (write.kind === 'remove') rows.delete(write.id);
  }
  return rows;
}

function heldRows(model: ModelShape, commits: readonly HandledCommit[]): Rows {
  const held = new Map<RefKey, Rows>();
  for (const { ref, calls } of commits) {
    for (const { writes } of calls) {
      held.set(ref, new Map());
      for (const write of writes) {
        if (write.kind === 'put' && write.model === model)
          held.get(ref)?.set(write.id, new Map(Object.entries(write.row)));
      }
    }
  }
  return new Map([...held.values()].flatMap((rows) => [...rows]));
}

function joinedRows(model: ModelShape, commits: readonly HandledCommit[]): Rows {
  const parts = new Map<string, Map<string, Map<string, unknown>>>();
  for (const { aggregate, calls } of commits) {
    for (const write of calls.flatMap(({ writes }) => writes).filter((each) => each.model === model)) {
      const row = parts.get(write.id) ?? new Map<string, Map<string, unknown>>();
      parts.set(write.id, row);
      if (write.kind === 'part') row.set(aggregate, new Map(Object.entries(write.fields)));
      if (write.kind === 'remove') row.delete(aggregate);
    }
  }
  const rows: Rows = new Map();
  for (const [id, row] of parts) {
    if (model.primary !== undefined && row.has(model.primary))
      rows.set(id, new Map([...row.values()].flatMap((part) => [...part])));
  }
  return rows;
}

function totalsRows(model: ModelShape, commits: readonly HandledCommit[]): Rows {
  const sums = new Map<string, Map<string, number>>();
  const sum = (id: string, amounts: Readonly<Record<string, number>>): void => {
    const row = sums.get(id) ?? new Map<string, number>();
    sums.set(id, row);
    for (const [field, amount] of Object.entries(amounts)) {
      row.set(field, (row.get(field) ?? 0) + Math.round(amount * unitsPerOne));
    }
  };
  const last = new Map<RefKey, readonly Write[]>();
  for (const { ref, calls } of commits) {
    for (const { writes } of calls) {
      for (const write of writes) if (write.kind === 'add' && write.model === model) sum(write.id, write.amounts);
      last.set(ref, writes);
    }
  }
  for (const write of [...last.values()].flat()) {
    if (write.kind === 'contribute' && write.model === model) sum(write.id, write.amounts);
  }
  return new Map(
    [...sums].map(([id, row]) => [id, new Map([...row].map(([field, units]) => [field, units / unitsPerOne]))]),
  );
}

function writesTo(model: ModelShape, commits: readonly HandledCommit[]): readonly Write[] {
  return commits.flatMap(({ calls }) => calls.flatMap(({ writes }) => writes)).filter((write) => write.model === model);
}
