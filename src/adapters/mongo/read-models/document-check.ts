import { BSON, type Document } from 'mongodb';
import { rowBytesMax } from '../../../read-models/row-refusal.ts';

/** Type, number and lengths beside text; more than what they take. */
const perValue = 16;

export type DocumentProblem =
  | { readonly kind: 'too large'; readonly bytes: number }
  /** The driver would store or read something else, or fail for all documents of the bulk. */
  | { readonly kind: 'changed'; readonly path: string };

/**
 * What is wrong with a document of canonical values, if anything. The driver does not say which document of a bulk it
 * cannot send, so each is looked at before it is sent.
 */
export function problemOfDocument(document: Document): DocumentProblem | undefined {
  const bytesMax = boundOf(document);
  if (Number.isNaN(bytesMax)) return { kind: 'changed', path: pathOfChanged(document, '') ?? '' };
  if (bytesMax <= rowBytesMax) return undefined;
  const bytes = BSON.calculateObjectSize(document);
  return bytes <= rowBytesMax ? undefined : { kind: 'too large', bytes };
}

/**
 * An upper bound of the size, which most documents stay far below: three bytes for each unit of text. `NaN` if something
 * in it would come back changed.
 */
function boundOf(value: unknown): number {
  if (typeof value === 'string') return perValue + 3 * value.length;
  if (typeof value !== 'object' || value === null || value instanceof Date) return perValue;
  let bytes = perValue;
  if (Array.isArray(value)) {
    for (const element of value) bytes += perValue + boundOf(element);
    return bytes;
  }
  if (isTakenForAnother(value)) return Number.NaN;
  for (const name in value) {
    if (Object.hasOwn(value, name)) bytes += 3 * name.length + boundOf((value as Document)[name]);
  }
  return bytes;
}

function pathOfChanged(value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value) && isTakenForAnother(value)) return path;
  for (const [name, member] of Object.entries(value)) {
    const found = pathOfChanged(member, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Objects that the driver takes for values of its own: by their type's name, or for a reference to a document. */
function isTakenForAnother(value: object): boolean {
  if ('_bsontype' in value) return true;
  if (!('$ref' in value) || !('$id' in value)) return false;
  return typeof value.$ref === 'string' && value.$id !== null && value.$id !== undefined;
}
