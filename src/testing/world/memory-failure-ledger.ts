import type { Scope } from '../../checkpoints/epoch.ts';
import type { LedgerChange, LedgerEntry, SequenceKey } from '../../failures/failure.ts';
import type {
  EntryPage,
  FailureLedger,
  LedgerFilter,
  ListedEntry,
  ParkedSequence,
} from '../../failures/failure-ledger.ts';
import { retryOf } from '../../failures/head-retry.ts';
import { assertSameCommit } from '../../failures/ledger-conflict-error.ts';
import { rankOf } from '../../failures/sequence.ts';
import { type Position, partitionKey, type TopicPartition } from '../../log/position.ts';
import type { LogRecord } from '../../log/record.ts';
import { entryKey, type MemoryTables } from './memory-tables.ts';

/** The failure ledger in memory. */
export class MemoryFailureLedger implements FailureLedger {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async membership(scope: Scope, partition: TopicPartition): Promise<readonly ParkedSequence[]> {
    const own = partitionKey(partition);
    const here = this.#tables.entriesOf(scope).filter(({ position }) => partitionKey(position) === own);
    return [...new Set(here.map(({ sequence }) => sequence))].map((sequence) => {
      const entries = this.#inOrder(scope, sequence);
      const [head] = entries;
      const isHeadHere = head !== undefined && partitionKey(head.position) === own;
      return { sequence, entries: entries.length, retry: retryOf(head?.failure), isHeadHere };
    });
  }

  async elsewhere(scope: Scope, partition: TopicPartition): Promise<readonly SequenceKey[]> {
    const own = partitionKey(partition);
    const all = Map.groupBy(this.#tables.entriesOf(scope), ({ sequence }) => sequence);
    return [...all]
      .filter(([, entries]) => entries.every(({ position }) => partitionKey(position) !== own))
      .map(([sequence]) => sequence);
  }

  async entries(scope: Scope, sequence: SequenceKey, { limit, bytes }: EntryPage): Promise<readonly LedgerEntry[]> {
    let left = bytes;
    return this.#inOrder(scope, sequence)
      .slice(0, limit)
      .filter(({ record }, n) => {
        left -= bytesOf(record);
        return n === 0 || left >= 0;
      });
  }

  async entryAt(scope: Scope, position: Position): Promise<LedgerEntry | undefined> {
    return this.#tables.entries.get(entryKey(scope, position))?.entry;
  }

  async list({ subscription, ref }: LedgerFilter, limit: number): Promise<readonly ListedEntry[]> {
    return [...this.#tables.entries.values()]
      .filter(({ scope }) => subscription === undefined || scope.subscription === subscription)
      .filter(({ entry }) => ref === undefined || entry.ref === ref)
      .map(({ scope, entry: { record, ...entry } }) => {
        return { ...entry, scope, bytes: bytesOf(record) };
      })
      .toSorted(byPlace)
      .slice(0, limit);
  }

  async count(scope: Scope): Promise<number> {
    return this.#tables.entriesOf(scope).length;
  }

  /** All or none, inside the transaction of the read-model store. */
  applyAll(scope: Scope, changes: readonly LedgerChange[]): void {
    const before = new Map(this.#tables.entries);
    try {
      for (const change of changes) this.#apply(scope, change);
    } catch (error) {
      this.#tables.entries.clear();
      for (const [key, entry] of before) this.#tables.entries.set(key, entry);
      throw error;
    }
  }

  #apply(scope: Scope, change: LedgerChange): void {
    const position = change.kind === 'park' ? change.entry.position : change.position;
    const key = entryKey(scope, position);
    const stored = this.#tables.entries.get(key)?.entry;
    switch (change.kind) {
      case 'park': {
        const entry = structuredClone(change.entry);
        if (stored === undefined) this.#tables.entries.set(key, { scope, entry });
        else assertSameCommit(scope, stored, entry);
        return;
      }
      case 'fail':
        if (stored === undefined) return;
        this.#tables.entries.set(key, { scope, entry: { ...stored, failure: structuredClone(change.failure) } });
        return;
      case 'remove':
        this.#tables.entries.delete(key);
        return;
    }
  }

  #inOrder(scope: Scope, sequence: SequenceKey): readonly LedgerEntry[] {
    return this.#tables
      .entriesOf(scope)
      .filter((entry) => entry.sequence === sequence)
      .toSorted((a, b) => rankOf(a) - rankOf(b) || comparePlaces(a.position, b.position));
  }
}

function bytesOf({ key, value }: LogRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

function byPlace(a: ListedEntry, b: ListedEntry): number {
  const [one, other] = [a.scope.subscription, b.scope.subscription];
  if (one !== other) return one < other ? -1 : 1;
  return a.scope.generation - b.scope.generation || comparePlaces(a.position, b.position);
}

function comparePlaces(a: Position, b: Position): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1;
  return a.partition - b.partition || a.offset - b.offset;
}
