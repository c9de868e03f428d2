import type { Scope } from '../../checkpoints/epoch.ts';
import type { LedgerChange } from '../../failures/failure.ts';
import type { RefKey } from '../../log/ref.ts';
import { ModelHeldError, ModelKindChangedError } from '../../read-models/model-error.ts';
import type { ModelShape } from '../../read-models/model-shape.ts';
import type { CommitBatch, CommitResult, ReadModelStore, ReadRow } from '../../read-models/read-model-store.ts';
import { refusalsOf, rowNotUnique, rowTooLarge, sourceTooLarge } from '../../read-models/row-refusal.ts';
import type { SourceRecord } from '../../read-models/source-record.ts';
import { type RowChange, rowKeyOf, type StoredRow } from '../../read-models/stored-row.ts';
import type { RowValue } from '../../read-models/write.ts';
import type { Refusal, WritePlan } from '../../read-models/write-plan.ts';
import { assert } from '../../runtime/assert.ts';
import type { MemoryCheckpointStore } from './memory-checkpoint-store.ts';
import type { MemoryFailureLedger } from './memory-failure-ledger.ts';
import type { MemoryTables, ModelTable } from './memory-tables.ts';
import { notUnique } from './unique-indexes.ts';

export type MemoryReadModelStoreOptions = {
  readonly tables: MemoryTables;
  readonly checkpoints: MemoryCheckpointStore;
  readonly ledger: MemoryFailureLedger;
  /** A larger row is refused; its size is that of its JSON. */
  readonly rowBytesMax: number;
};

const noChanges = { kind: 'changes', rows: [], sources: [] } as const;

type Changes = { readonly rows: readonly RowChange[]; readonly sources: readonly SourceRecord[] };

/** Read models in memory. A commit runs within one turn, so it is a transaction. */
export class MemoryReadModelStore implements ReadModelStore {
  readonly #options: MemoryReadModelStoreOptions;

  constructor(options: MemoryReadModelStoreOptions) {
    this.#options = options;
  }

  async prepare({ subscription }: Scope, model: ModelShape): Promise<void> {
    const { models } = this.#options.tables;
    const table = models.get(model.name);
    if (table === undefined) {
      models.set(model.name, { model, subscription, rows: new Map() });
      return;
    }
    if (table.subscription !== subscription) {
      throw new ModelHeldError({ model: model.name, heldBy: table.subscription, subscription });
    }
    const { kind: stored } = table.model;
    if (stored !== model.kind) throw new ModelKindChangedError({ model: model.name, stored, declared: model.kind });
    table.model = model;
  }

  async commit({ scope, advances, plan, ledger }: CommitBatch): Promise<CommitResult> {
    const { checkpoints } = this.#options;
    assert(advances.length > 0, 'a commit moves a checkpoint');
    for (const { fence, offset } of advances) {
      const stored = checkpoints.stored(fence.scope, fence);
      const stands = stored?.epoch === fence.epoch && stored.sequence === fence.sequence && stored.offset <= offset;
      const { topic, partition } = fence;
      if (!stands) return { kind: 'fenced', partition: { topic, partition }, stored };
    }
    const refusals = this.write(scope, plan, ledger);
    if (refusals.length > 0) return { kind: 'refused', refusals };
    for (const { fence, offset } of advances) checkpoints.move({ fence, offset, completed: [] });
    return { kind: 'committed' };
  }

  /** Writes a plan and ledger changes, or nothing: then it says why. */
  write(scope: Scope, plan: WritePlan | undefined, ledger: readonly LedgerChange[]): readonly Refusal[] {
    const decided = plan === undefined ? noChanges : this.#decide(scope, plan);
    if (decided.kind === 'refused') return decided.refusals;
    const refusals = plan === undefined ? [] : this.#refusals(plan, decided);
    if (refusals.length > 0) return refusals;
    // The ledger may still refuse, and then nothing of the transaction stands.
    this.#options.ledger.applyAll(scope, ledger);
    this.#apply(scope, decided);
    return [];
  }

  async readRow(model: string, id: string): Promise<RowValue | undefined> {
    const row = this.#options.tables.models.get(model)?.rows.get(id);
    return row?.isLive === true ? structuredClone(row.value) : undefined;
  }

  async readRows(
    model: string,
    { afterId, limit }: { readonly afterId: string | undefined; readonly limit: number },
  ): Promise<readonly ReadRow[]> {
    const rows = [...(this.#options.tables.models.get(model)?.rows.values() ?? [])];
    return rows
      .filter(({ isLive, id }) => isLive && (afterId === undefined || isBelow(afterId, id)))
      .toSorted((a, b) => (isBelow(a.id, b.id) ? -1 : 1))
      .slice(0, limit)
      .map(({ id, value }) => ({ id, row: structuredClone(value) }));
  }

  async listModels(): Promise<readonly string[]> {
    return [...this.#options.tables.models.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  }

  #decide(scope: Scope, plan: WritePlan) {
    const own = this.#options.tables.sourcesOf(scope);
    const sources = new Map<RefKey, SourceRecord>();
    for (const ref of plan.sources) {
      const source = own.get(ref);
      if (source !== undefined) sources.set(ref, source);
    }
    const rows = new Map<string, StoredRow>();
    for (const { model, id } of plan.rows(sources)) {
      const row = this.#tableOf(model).rows.get(id);
      // Only the totals themselves are summed on; elsewhere the guard alone decides.
      if (row !== undefined) rows.set(rowKeyOf(model, id), model.kind === 'totals' ? row : { ...row, value: {} });
    }
    const decision = plan.decide(sources, rows);
    assert(decision.kind === 'changes' || decision.refusals.length > 0, 'a refused plan names what is refused');
    return decision;
  }

  #refusals(plan: WritePlan, { rows, sources }: Changes): readonly Refusal[] {
    const { rowBytesMax } = this.#options;
    const refusals: Refusal[] = [];
    for (const source of sources) {
      const bytes = Buffer.byteLength(JSON.stringify(source));
      if (bytes > rowBytesMax) refusals.push(sourceTooLarge(source.ref, bytes));
    }
    for (const changes of Map.groupBy(rows, ({ model }) => model.name).values()) {
      const model = changes[0]?.model;
      if (model === undefined) continue;
      for (const { id, other, fields } of notUnique(model, this.#tableOf(model).rows, changes)) {
        const reason = rowNotUnique({ model, id }, `on ${fields} (row ${other})`);
        refusals.push(...refusalsOf(plan, { model, id }, reason));
      }
      for (const change of changes) {
        if (change.kind === 'delete') continue;
        const { id, value } = change.row;
        const bytes = sizeOf(value);
        if (bytes <= rowBytesMax) continue;
        refusals.push(...refusalsOf(plan, { model, id }, rowTooLarge({ model, id }, bytes, rowBytesMax)));
      }
    }
    return refusals;
  }

  #apply(scope: Scope, { rows, sources }: Changes): void {
    for (const change of rows) {
      const table = this.#tableOf(change.model).rows;
      if (change.kind === 'delete') {
        table.delete(change.id);
        continue;
      }
      const { id } = change.row;
      assert(table.has(id) === (change.kind === 'replace'), 'a row is inserted once and replaced from then on', { id });
      table.set(id, structuredClone(change.row));
    }
    const own = this.#options.tables.sourcesOf(scope);
    for (const source of sources) own.set(source.ref, structuredClone(source));
  }

  #tableOf(model: ModelShape): ModelTable {
    const table = this.#options.tables.models.get(model.name);
    assert(table !== undefined, 'a read model is prepared before it is written', { model: model.name });
    return table;
  }
}

/** The order of stores is that of bytes: by code points, not by the units of a string. */
function isBelow(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

function sizeOf(value: RowValue): number {
  return Buffer.byteLength(
    JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}` : each)),
  );
}
