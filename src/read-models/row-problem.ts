import { isDate, isInt64, isKey, isPlainObject, rowDepthMax } from './storable.ts';

/** What is wrong with a row and where: `list[2].at`, `totals["a.b"]`; `''` is the row itself. */
export type RowProblem = { readonly path: string; readonly problem: string };

/** The first value of a row that no store can hold. */
export function problemInRow(value: unknown): RowProblem {
  if (!isPlainObject(value)) return { path: '', problem: `is ${nameOf(value)}, not a plain object` };
  return look(value, '', []) ?? { path: '', problem: 'holds a value that changes when it is read' };
}

export function problemInMember(key: string, problem: string): RowProblem {
  return { path: memberPath('', key), problem };
}

function look(value: unknown, path: string, around: readonly object[]): RowProblem | undefined {
  if (typeof value !== 'object' || value === null) {
    const problem = problemOfPrimitive(value);
    return problem === undefined ? undefined : { path, problem };
  }
  if (around.includes(value)) return { path, problem: 'holds itself' };
  if (around.length >= rowDepthMax) return { path, problem: `lies more than ${rowDepthMax} levels deep` };
  const inside = [...around, value];
  if (Array.isArray(value)) return lookThroughArray(value, path, inside);
  if (isPlainObject(value)) return lookThroughObject(value, path, inside);
  if (!isDate(value)) return { path, problem: `is ${nameOf(value)}, not a plain object` };
  return Number.isNaN(value.getTime()) ? { path, problem: 'is an invalid date' } : undefined;
}

function lookThroughArray(value: readonly unknown[], path: string, inside: readonly object[]): RowProblem | undefined {
  // By index, since iteration methods pass over holes.
  for (let i = 0; i < value.length; i += 1) {
    const found = look(value[i], `${path}[${i}]`, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}

function lookThroughObject(
  value: Readonly<Record<string, unknown>>,
  path: string,
  inside: readonly object[],
): RowProblem | undefined {
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const at = memberPath(path, key);
    if (!isKey(key)) return { path: at, problem: 'has a name with a lone surrogate or a NUL' };
    const found = look(member, at, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOfPrimitive(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : 'holds a lone surrogate';
    case 'bigint':
      return isInt64(value) ? undefined : 'is a bigint beyond 64 bits';
    case 'undefined':
      return 'is undefined';
    case 'function':
    case 'symbol':
      return `is a ${typeof value}`;
    case 'number':
    case 'boolean':
    case 'object':
      return undefined;
  }
}

/** What a value is, for a sentence: `a Set`, `an array`, `undefined`. */
export function nameOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return 'an object';
  const name = classNameOf(prototype);
  return name === '' ? 'an object of a class' : `a ${name}`;
}

function classNameOf(prototype: unknown): string {
  if (typeof prototype !== 'object' || prototype === null || !('constructor' in prototype)) return '';
  return typeof prototype.constructor === 'function' ? prototype.constructor.name : '';
}

const plainName = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

function memberPath(path: string, key: string): string {
  if (!plainName.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
