import type { RefKey } from '../../../src/log/ref.ts';
import type { ModelShape } from '../../../src/read-models/model-shape.ts';
import type { SourceRecord } from '../../../src/read-models/source-record.ts';
import { type RowChange, rowKeyOf, type StoredRow } from '../../../src/read-models/stored-row.ts';
import type { RowValue } from '../../../src/read-models/write.ts';
import type { WritePlan } from '../../../src/read-models/write-plan.ts';

export function refOfRow(id: string): RefKey {
  return `eshop.order/(0)/${encodeURIComponent(id)}` as RefKey;
}

export function modelNamed(name: string, more: Partial<ModelShape> = {}): ModelShape {
  return { name, kind: 'rows', primary: undefined, indexes: [], ...more };
}

export function rowOf(id: string, value: RowValue, version = 1): StoredRow {
  return { id, isLive: true, value, guard: { kind: 'owner', owner: refOfRow(id), version, eventIndex: 0 } };
}

/** Writes rows and source records as they are, whatever is found. `meanwhile` is run inside the transaction. */
export function writing(
  model: ModelShape,
  rows: readonly StoredRow[],
  { sources = [], meanwhile }: { readonly sources?: readonly SourceRecord[]; readonly meanwhile?: () => void } = {},
): WritePlan {
  return {
    sources: sources.map(({ ref }) => ref),
    rows: () => rows.map(({ id }) => ({ model, id })),
    decide: (_sources, found) => {
      meanwhile?.();
      const changes = rows.map((row): RowChange => {
        return { kind: found.has(rowKeyOf(model, row.id)) ? 'replace' : 'insert', model, row };
      });
      return { kind: 'changes', rows: changes, sources };
    },
    refsOf: ({ id }) => [refOfRow(id)],
  };
}

/** Adds to the field `n` of a totals row. */
export function adding(model: ModelShape, id: string, amount: number): WritePlan {
  return {
    sources: [],
    rows: () => [{ model, id }],
    decide: (_sources, found) => {
      const before = found.get(rowKeyOf(model, id));
      const n = Number(before?.value['n'] ?? 0) + amount;
      const guard = { kind: 'contributors', contributors: undefined, fields: {} } as const;
      const row: StoredRow = { id, isLive: true, value: { n }, guard };
      return {
        kind: 'changes',
        rows: [{ kind: before === undefined ? 'insert' : 'replace', model, row }],
        sources: [],
      };
    },
    refsOf: () => [refOfRow(id)],
  };
}
