import type { Guard } from './guard.ts';
import type { ModelShape } from './model-shape.ts';
import type { RowValue } from './write.ts';

export type RowKey = { readonly model: ModelShape; readonly id: string };

/** A row with what the store keeps beside it. A row that is not live is a tombstone (or a join whose primary is missing). */
export type StoredRow = {
  readonly id: string;
  readonly isLive: boolean;
  /** `{}` for tombstones. Not read back for models of kind `rows` and `moves`: there only the guard decides. */
  readonly value: RowValue;
  readonly guard: Guard;
};

export type RowChange =
  | { readonly kind: 'insert' | 'replace'; readonly model: ModelShape; readonly row: StoredRow }
  | { readonly kind: 'delete'; readonly model: ModelShape; readonly id: string };

/** A map key for a row of any model; injective, since a model's name holds no `/`. */
export function rowKeyOf(model: ModelShape, id: string): string {
  return `${model.name}/${id}`;
}
