import { TidemarkError } from '../runtime/errors.ts';
import { problemInMember, problemInRow, type RowProblem } from './row-problem.ts';
import { copyOfDate, isDate, isInt64, isKey, isPlainObject, type PlainObject, rowDepthMax } from './storable.ts';
import type { Amounts, RowValue } from './write.ts';

/** Which row a value is for, to name it in the error. A write is one. */
export type RowName = { readonly model: { readonly name: string }; readonly id: string };

/** A row, part or amounts that no store can hold as they are. Time does not heal it. */
export class RowInvalidError extends TidemarkError {
  readonly code = 'ROW_INVALID';

  constructor({ path, problem }: RowProblem, row?: RowName) {
    const subject = row === undefined ? 'The row' : `Row ${JSON.stringify(row.id)} of ${row.model.name}`;
    super(`${subject} cannot be stored: ${path === '' ? 'it' : path} ${problem}`, {
      details: { path, ...(row === undefined ? {} : { model: row.model.name, id: row.id }) },
      hint: 'Let the handler return plain objects, arrays, strings, numbers, booleans, null, dates and int64 bigints.',
    });
  }
}

/**
 * The row as every store sees it, a copy of plain objects, arrays and dates: whatever the handler does to its own later
 * does not matter. Undefined members are dropped, -0 is 0. Throws RowInvalidError (`ROW_INVALID`) with the path of the
 * first value that no store can hold.
 */
export function canonicalRow(value: unknown, row?: RowName): RowValue {
  if (isPlainObject(value)) {
    const canonical = canonicalObject(value, 1);
    if (canonical !== undefined) return canonical;
  }
  throw new RowInvalidError(problemInRow(value), row);
}

/**
 * Amounts as every store sees them: finite numbers, -0 is 0. Throws RowInvalidError (`ROW_INVALID`) with the path of
 * the first that is none.
 */
export function amountsOf(value: unknown, row?: RowName): Amounts {
  if (!isPlainObject(value)) throw new RowInvalidError(problemInRow(value), row);
  for (const field of Object.keys(value)) {
    const amount = value[field];
    if (!isKey(field)) throw new RowInvalidError(problemInRow({ [field]: 0 }), row);
    if (typeof amount !== 'number' || !Number.isFinite(amount)) {
      throw new RowInvalidError(problemInMember(field, 'is not a finite number'), row);
    }
  }
  // All are numbers now, so only -0 can differ.
  return (canonicalObject(value, 1) ?? value) as Amounts;
}

/*
 * The hot path: it looks at each value once, and answers `undefined` for whatever cannot be stored; `undefined` itself is
 * handled by the callers. Where and why is found by a second, slow look.
 */
function canonicalValue(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : undefined;
    case 'number':
      return value === 0 ? 0 : value;
    case 'boolean':
      return value;
    case 'bigint':
      return isInt64(value) ? value : undefined;
    case 'object':
      if (value === null) return value;
      if (depth >= rowDepthMax) return undefined;
      if (isPlainObject(value)) return canonicalObject(value, depth + 1);
      if (Array.isArray(value)) return canonicalArray(value, depth + 1);
      return isDate(value) ? copyOfDate(value) : undefined;
    case 'undefined':
    case 'function':
    case 'symbol':
      return undefined;
  }
}

function canonicalObject(value: PlainObject, depth: number): PlainObject | undefined {
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const member = value[key];
    if (member === undefined) continue;
    const canonical = canonicalValue(member, depth);
    if (canonical === undefined || !isKey(key)) return undefined;
    setMember(copy, key, canonical);
  }
  return copy;
}

function canonicalArray(value: readonly unknown[], depth: number): readonly unknown[] | undefined {
  const copy: unknown[] = [];
  // By index, since iteration methods pass over holes, and an array may have methods of its own.
  for (let i = 0; i < value.length; i += 1) {
    const canonical = canonicalValue(value[i], depth);
    if (canonical === undefined) return undefined;
    copy.push(canonical);
  }
  return copy;
}

function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    // An assignment would set the prototype instead.
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}
