import type { ModelShape } from './model-shape.ts';

/** A row's value: a plain object of canonical values. */
export type RowValue = Readonly<Record<string, unknown>>;

/** Amounts per field of a totals row; finite numbers. */
export type Amounts = Readonly<Record<string, number>>;

/** What a projection handler asks for; made by the methods of a read model, whose kind decides which writes exist. */
export type Write =
  | { readonly kind: 'put'; readonly model: ModelShape; readonly id: string; readonly row: RowValue }
  | { readonly kind: 'remove'; readonly model: ModelShape; readonly id: string }
  | { readonly kind: 'part'; readonly model: ModelShape; readonly id: string; readonly fields: RowValue }
  | { readonly kind: 'contribute'; readonly model: ModelShape; readonly id: string; readonly amounts: Amounts }
  | { readonly kind: 'add'; readonly model: ModelShape; readonly id: string; readonly amounts: Amounts };

/** The writes of these kinds. */
export type WriteOf<Kind extends Write['kind']> = Extract<Write, { readonly kind: Kind }>;
