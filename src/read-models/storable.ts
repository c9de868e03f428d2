/** Objects and arrays in one another, the row itself included. Also what ends a cycle. */
export const rowDepthMax = 150;

export type PlainObject = Readonly<Record<string, unknown>>;

/** Neither an array, nor of a class, nor a boxed primitive. */
export function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whether every store keeps the name of a member as it is. */
export function isKey(key: string): boolean {
  return key.isWellFormed() && !key.includes('\0');
}

export function isDate(value: object): value is Date {
  // oxlint-disable-next-line no-restricted-globals -- a question of type; nothing asks for the time
  return Object.getPrototypeOf(value) === Date.prototype;
}

/** A date that nobody else changes, without methods of its own; `undefined` for an invalid one. */
export function copyOfDate(value: Date): Date | undefined {
  // oxlint-disable-next-line no-restricted-globals -- the instant it holds; nothing asks for the time
  const instantMs = Date.prototype.getTime.call(value);
  // oxlint-disable-next-line no-restricted-globals -- as above
  return Number.isNaN(instantMs) ? undefined : new Date(instantMs);
}

export function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
