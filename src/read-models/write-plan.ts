import type { RefKey } from '../log/ref.ts';
import type { SourceRecord } from './source-record.ts';
import type { RowChange, RowKey, StoredRow } from './stored-row.ts';

/** Why an aggregate's writes cannot stand. It parks the aggregate, nothing else. */
export type Refusal = {
  readonly ref: RefKey;
  readonly model: string;
  readonly id: string;
  /** `ROW_FOREIGN`, `ROW_HELD`, `FIELD_OVERLAP`, `TOTAL_INEXACT`, `TOTALS_MIXED`, `ROW_TOO_LARGE`, `ROW_NOT_UNIQUE`, … */
  readonly code: string;
  readonly message: string;
  /** Whether time may heal it (the other's release may be on its way). */
  readonly isRecoverable: boolean;
};

export type Decision =
  | { readonly kind: 'changes'; readonly rows: readonly RowChange[]; readonly sources: readonly SourceRecord[] }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] };

/** Rows found by `rowKeyOf`. */
export type FoundRows = ReadonlyMap<string, StoredRow>;
export type FoundSources = ReadonlyMap<RefKey, SourceRecord>;

/**
 * The read-model part of one transaction: what to read, then a pure decision over what was found. A store reads the
 * sources, then the rows, calls `decide` and writes what it says, all in one transaction. It may do so again from the
 * start (a conflict, an unknown outcome), so nothing here changes anything.
 */
export interface WritePlan {
  readonly sources: readonly RefKey[];
  rows(sources: FoundSources): readonly RowKey[];
  decide(sources: FoundSources, rows: FoundRows): Decision;
  /** The aggregate that a row of this plan is written for, to name it when the store refuses the row. */
  refsOf(key: RowKey): readonly RefKey[];
}
