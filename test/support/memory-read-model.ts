import type { RefKey } from '../../src/log/ref.ts';
import type { ModelShape } from '../../src/read-models/model-shape.ts';
import type { SourceRecord } from '../../src/read-models/source-record.ts';
import { rowKeyOf, type StoredRow } from '../../src/read-models/stored-row.ts';
import type { RowValue } from '../../src/read-models/write.ts';
import type { Decision, WritePlan } from '../../src/read-models/write-plan.ts';

/**
 * Rows and source records in memory; executes write plans one at a time, each whole or not at all. It gives a plan no
 * more than a store would, and holds it to what stores rely on: an insert meets no row, a replacement and a deletion
 * meet one, and nothing is written that was not asked for.
 */
export class MemoryReadModel {
  readonly #rows = new Map<string, StoredRow & { readonly model: ModelShape }>();
  /** As text: a source record is data that any store can keep. */
  readonly #sources = new Map<RefKey, string>();

  commit(plan: WritePlan): Decision {
    const sources = new Map(plan.sources.flatMap((ref) => this.#findSource(ref)));
    const asked = plan.rows(sources);
    const found = new Map(asked.flatMap(({ model, id }) => this.#findRow(model, id)));
    if (found.size < asked.length && new Set(asked.map(({ model, id }) => rowKeyOf(model, id))).size < asked.length) {
      throw new Error('the plan asks twice for one row');
    }
    const decision = plan.decide(sources, found);
    const again = plan.decide(sources, found);
    if (JSON.stringify(decision) !== JSON.stringify(again)) throw new Error('a second decision differs from the first');
    if (decision.kind === 'refused') return decision;
    const mayWrite = new Set(asked.map(({ model, id }) => rowKeyOf(model, id)));
    for (const change of decision.rows) {
      const key = rowKeyOf(change.model, change.kind === 'delete' ? change.id : change.row.id);
      if (!mayWrite.delete(key)) throw new Error(`${key} is written twice or was not asked for`);
      if ((change.kind === 'insert') === this.#rows.has(key)) throw new Error(`cannot ${change.kind} ${key}`);
      if (change.kind === 'delete') this.#rows.delete(key);
      else this.#rows.set(key, { ...change.row, model: change.model });
    }
    for (const source of decision.sources) {
      if (!plan.sources.includes(source.ref)) throw new Error(`the source record of ${source.ref} was not asked for`);
      this.#sources.set(source.ref, JSON.stringify(source));
    }
    return decision;
  }

  /** What readers see of a model, by id. */
  visibleRows(model: ModelShape): ReadonlyMap<string, RowValue> {
    const rows = [...this.#rows.values()].filter((row) => row.model === model && row.isLive);
    return new Map(rows.map(({ id, value }) => [id, value] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  row(model: ModelShape, id: string): StoredRow | undefined {
    return this.#rows.get(rowKeyOf(model, id));
  }

  source(ref: RefKey): SourceRecord | undefined {
    return this.#findSource(ref)[0]?.[1];
  }

  #findRow(model: ModelShape, id: string): readonly (readonly [string, StoredRow])[] {
    const key = rowKeyOf(model, id);
    const row = this.#rows.get(key);
    if (row === undefined) return [];
    const isRead = model.kind === 'joined' || model.kind === 'totals';
    return [[key, { id, isLive: row.isLive, value: isRead ? row.value : {}, guard: row.guard }]];
  }

  #findSource(ref: RefKey): readonly (readonly [RefKey, SourceRecord])[] {
    const text = this.#sources.get(ref);
    return text === undefined ? [] : [[ref, JSON.parse(text) as SourceRecord]];
  }
}
