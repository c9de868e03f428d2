import type { Checkpoint } from '../../checkpoints/checkpoint.ts';
import type { Scope } from '../../checkpoints/epoch.ts';
import type { Initialisation } from '../../checkpoints/initialisation.ts';
import type { LedgerEntry } from '../../failures/failure.ts';
import { type Position, partitionKey, type TopicPartition } from '../../log/position.ts';
import type { RefKey } from '../../log/ref.ts';
import type { ModelShape } from '../../read-models/model-shape.ts';
import type { SourceRecord } from '../../read-models/source-record.ts';
import type { StoredRow } from '../../read-models/stored-row.ts';

export type OwnedCheckpoint = { readonly scope: Scope; readonly owner: string; readonly checkpoint: Checkpoint };
export type OwnedEntry = { readonly scope: Scope; readonly entry: LedgerEntry };
export type ModelTable = { model: ModelShape; readonly subscription: string; readonly rows: Map<string, StoredRow> };
export type AuditLine = { readonly action: string; readonly who: string; readonly why: string };

/** All that the stores in memory hold. Each operation of a store reads and changes it within one turn. */
export class MemoryTables {
  /** By scope and topic. */
  readonly initialisations = new Map<string, Initialisation>();
  /** By scope and partition. */
  readonly checkpoints = new Map<string, OwnedCheckpoint>();
  /** Epochs of checkpoints that were dropped: none is used again. */
  readonly droppedEpochs = new Map<string, number>();
  /** By name. */
  readonly models = new Map<string, ModelTable>();
  /** By scope, then by ref. */
  readonly sources = new Map<string, Map<RefKey, SourceRecord>>();
  /** By scope and position. */
  readonly entries = new Map<string, OwnedEntry>();
  readonly audit: AuditLine[] = [];

  sourcesOf(scope: Scope): Map<RefKey, SourceRecord> {
    const key = scopeKey(scope);
    const own = this.sources.get(key) ?? new Map<RefKey, SourceRecord>();
    this.sources.set(key, own);
    return own;
  }

  entriesOf(scope: Scope): readonly LedgerEntry[] {
    const key = scopeKey(scope);
    return [...this.entries.values()].filter((own) => scopeKey(own.scope) === key).map(({ entry }) => entry);
  }
}

export function scopeKey({ subscription, generation }: Scope): string {
  return `${generation}:${subscription}`;
}

export function checkpointKey(scope: Scope, partition: TopicPartition): string {
  return `${scopeKey(scope)}/${partitionKey(partition)}`;
}

export function entryKey(scope: Scope, position: Position): string {
  return `${checkpointKey(scope, position)}/${position.offset}`;
}
