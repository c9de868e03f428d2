import type { ModelShape } from '../model-shape.ts';
import { type RowChange, type RowKey, rowKeyOf, type StoredRow } from '../stored-row.ts';
import type { FoundRows } from '../write-plan.ts';

/** The rows of one transaction while it is decided: what was found, under what was decided so far. */
export class DraftRows {
  readonly #found: FoundRows;
  readonly #changes = new Map<string, RowChange>();

  constructor(found: FoundRows) {
    this.#found = found;
  }

  get({ model, id }: RowKey): StoredRow | undefined {
    const key = rowKeyOf(model, id);
    const change = this.#changes.get(key);
    if (change === undefined) return this.#found.get(key);
    return change.kind === 'delete' ? undefined : change.row;
  }

  put(model: ModelShape, row: StoredRow): void {
    const key = rowKeyOf(model, row.id);
    this.#changes.set(key, { kind: this.#found.has(key) ? 'replace' : 'insert', model, row });
  }

  delete({ model, id }: RowKey): void {
    const key = rowKeyOf(model, id);
    if (this.#found.has(key)) this.#changes.set(key, { kind: 'delete', model, id });
  }

  /** One change per row. */
  get changes(): readonly RowChange[] {
    return [...this.#changes.values()];
  }

  /** The same in the order of rows: transactions that share rows then meet at the first one. */
  get orderedChanges(): readonly RowChange[] {
    return [...this.#changes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
  }
}
