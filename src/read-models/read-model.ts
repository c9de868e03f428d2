import type { IndexShape, ModelKind, ModelShape } from './model-shape.ts';
import { rowId } from './row-id.ts';
import type { Write } from './write.ts';

/** A row's id, or its parts; parts are joined so that two lists never give one id. */
export type RowIdParts = string | readonly string[];

/** Field name (a dot leads into nested objects) → 1 ascending, -1 descending; in order. */
export type IndexFields = Readonly<Record<string, 1 | -1>>;

export type IndexOption = IndexFields | { readonly fields: IndexFields; readonly unique?: boolean };

type Indexes = { readonly indexes?: readonly IndexOption[] };

export type RowsOptions = Indexes & { readonly kind?: 'rows'; readonly moves?: false };
export type MovesOptions = Indexes & { readonly kind?: 'rows'; readonly moves: true };
export type JoinedOptions = Indexes & {
  readonly kind: 'joined';
  /** The aggregate whose live part makes a row visible. */
  readonly primary: { readonly name: string };
};
export type TotalsOptions = Indexes & { readonly kind: 'totals' };

/** What every read model has, whatever its kind. */
export type ReadModel = { readonly shape: ModelShape };

/** Rows that belong to one aggregate each. */
export type RowsModel<Row extends object> = ReadModel & {
  /** Sets the whole row. */
  put(id: RowIdParts, row: Row): Write;
  /** Takes the row away. A later put brings it back, an older one does not. */
  remove(id: RowIdParts): Write;
};

/** Rows merged of one part per source aggregate name. */
export type JoinedModel<Row extends object> = ReadModel & {
  /** Sets this aggregate's part of the row, in place of what it set before. */
  part(id: RowIdParts, fields: Partial<Row>): Write;
  /** Takes this aggregate's part away; without the primary's part readers do not see the row. */
  remove(id: RowIdParts): Write;
};

/** The numeric fields of a row. */
export type AmountsOf<Row extends object> = {
  readonly [Field in keyof Row as Row[Field] extends number ? Field : never]?: number;
};

/** Sums over many aggregates. A model uses one of its two writes. */
export type TotalsModel<Row extends object> = ReadModel & {
  /** What this aggregate adds to the row from now on, in place of all that it contributed before. */
  contribute(id: RowIdParts, amounts: AmountsOf<Row>): Write;
  /** Adds to the row, once for this version of the aggregate. */
  add(id: RowIdParts, amounts: AmountsOf<Row>): Write;
};

/**
 * Defines a read model: a named set of rows that exactly one function writes. Its kind says which writes exist:
 * `rows` (default), the same with `moves: true` if an aggregate's row ids may change over its life, `joined`, `totals`.
 * Never throws; what is wrong with a definition is listed by `modelProblems`.
 */
export function readModel<Row extends object>(name: string, options?: RowsOptions | MovesOptions): RowsModel<Row>;
export function readModel<Row extends object>(name: string, options: JoinedOptions): JoinedModel<Row>;
export function readModel<Row extends object>(name: string, options: TotalsOptions): TotalsModel<Row>;
export function readModel<Row extends object>(
  name: string,
  options: RowsOptions | MovesOptions | JoinedOptions | TotalsOptions = {},
): RowsModel<Row> | JoinedModel<Row> | TotalsModel<Row> {
  const shape: ModelShape = {
    name,
    kind: kindOf(options),
    primary: 'primary' in options ? primaryOf(options) : undefined,
    indexes: (options.indexes ?? []).map(indexShapeOf),
  };
  switch (shape.kind) {
    case 'rows':
    case 'moves':
      return rowsModel<Row>(shape);
    case 'joined':
      return joinedModel<Row>(shape);
    case 'totals':
      return totalsModel<Row>(shape);
    default:
      // A kind that there is not: `modelProblems` tells of it.
      shape.kind satisfies never;
      return rowsModel<Row>(shape);
  }
}

const nameRule = /^[a-z][a-z0-9_]{0,62}$/;
const reservedPrefix = 'tm_';
const kinds: readonly ModelKind[] = ['rows', 'moves', 'joined', 'totals'];

/** All that is wrong with a read model's definition, a sentence each; none if it can be used. */
export function modelProblems({ shape }: ReadModel): readonly string[] {
  const label = `Read model ${JSON.stringify(shape.name)}`;
  const problems: string[] = [];
  if (!nameRule.test(shape.name)) {
    problems.push(`${label}: a name starts with a-z and holds at most 63 of a-z, 0-9 and _.`);
  } else if (shape.name.startsWith(reservedPrefix)) {
    problems.push(`${label}: names that start with ${reservedPrefix} are kept for Tidemark's own tables.`);
  }
  if (!kinds.includes(shape.kind)) {
    problems.push(`${label}: there is no kind ${JSON.stringify(shape.kind)}; there are rows, joined and totals.`);
  }
  if (shape.kind === 'joined' && shape.primary === undefined) {
    problems.push(`${label}: a joined model names its primary aggregate: { kind: 'joined', primary: Order }.`);
  }
  const seen = new Set<string>();
  for (const [place, index] of shape.indexes.entries()) {
    const fields = Object.entries(index.fields);
    for (const problem of indexProblems(fields)) problems.push(`${label}, index ${place}: ${problem}`);
    const key = JSON.stringify(fields);
    if (seen.has(key)) problems.push(`${label}, index ${place}: the same fields as an index before it.`);
    seen.add(key);
  }
  return problems;
}

function* indexProblems(fields: readonly (readonly [string, unknown])[]): Generator<string> {
  if (fields.length === 0) yield 'it names no field.';
  for (const [field, direction] of fields) {
    const isPath = field.split('.').every((name) => name !== '' && !name.startsWith('$') && !name.includes('\0'));
    if (!isPath) yield `${JSON.stringify(field)} is no field path.`;
    if (direction !== 1 && direction !== -1) yield `the direction of ${JSON.stringify(field)} is neither 1 nor -1.`;
  }
}

function kindOf(options: RowsOptions | MovesOptions | JoinedOptions | TotalsOptions): ModelKind {
  const { kind = 'rows' } = options;
  if (kind !== 'rows') return kind;
  return 'moves' in options && options.moves ? 'moves' : 'rows';
}

/** Whatever was given: without types it may be anything. */
function primaryOf({ primary }: Pick<JoinedOptions, 'primary'>): string | undefined {
  const given: unknown = primary;
  if (typeof given !== 'object' || given === null || !('name' in given)) return undefined;
  return typeof given.name === 'string' ? given.name : undefined;
}

function indexShapeOf(option: IndexOption): IndexShape {
  // A field may be called `fields`: then its direction is a number.
  if (isIndexFields(option)) return { fields: option, isUnique: false };
  return { fields: option.fields, isUnique: option.unique === true };
}

function isIndexFields(option: IndexOption): option is IndexFields {
  return typeof option.fields !== 'object';
}

function rowsModel<Row extends object>(model: ModelShape): RowsModel<Row> {
  return {
    shape: model,
    put: (id, row) => ({ kind: 'put', model, id: rowId(id), row: fieldsOf(row) }),
    remove: (id) => ({ kind: 'remove', model, id: rowId(id) }),
  };
}

function joinedModel<Row extends object>(model: ModelShape): JoinedModel<Row> {
  return {
    shape: model,
    part: (id, fields) => ({ kind: 'part', model, id: rowId(id), fields: fieldsOf(fields) }),
    remove: (id) => ({ kind: 'remove', model, id: rowId(id) }),
  };
}

function totalsModel<Row extends object>(model: ModelShape): TotalsModel<Row> {
  return {
    shape: model,
    contribute: (id, amounts) => ({ kind: 'contribute', model, id: rowId(id), amounts: fieldsOf<number>(amounts) }),
    add: (id, amounts) => ({ kind: 'add', model, id: rowId(id), amounts: fieldsOf<number>(amounts) }),
  };
}

/** The same object, as data: it is looked through when the handler's result is read (`handlerCall`). */
function fieldsOf<Value = unknown>(value: object): Readonly<Record<string, Value>> {
  return value as Readonly<Record<string, Value>>;
}
