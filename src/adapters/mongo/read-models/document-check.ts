import { BSON, type Document } from 'mongodb';

/** What one document may take. MongoDB's limit with some room for what it adds while it writes. */
export const documentBytesMax = 15 * 1024 * 1024;

export type DocumentProblem =
  | { readonly kind: 'too large'; readonly bytes: number }
  /** The driver would store or read something else, or fail for all documents of the bulk. */
  | { readonly kind: 'changed'; readonly path: string };

/**
 * What is wrong with a document of canonical values, if anything. The driver does not say which document of a bulk it
 * cannot send, so each is looked at before it is sent.
 */
export function problemOfDocument(document: Document): DocumentProblem | undefined {
  const found: { bytesMax: number; path: string | undefined } = { bytesMax: 0, path: undefined };
  look(document, '', found);
  if (found.path !== undefined) return { kind: 'changed', path: found.path };
  if (found.bytesMax <= documentBytesMax) return undefined;
  const bytes = BSON.calculateObjectSize(document);
  return bytes <= documentBytesMax ? undefined : { kind: 'too large', bytes };
}

type Found = { bytesMax: number; path: string | undefined };

/** Sums up an upper bound, which most documents stay far below: three bytes for each unit of text. */
function look(value: unknown, path: string, found: Found): void {
  found.bytesMax += 16;
  if (typeof value === 'string') found.bytesMax += 3 * value.length;
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) look(element, `${path}[${index}]`, found);
    return;
  }
  if (value instanceof Date) return;
  if (isTakenForAnother(value)) found.path ??= path;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    found.bytesMax += 3 * name.length;
    look((value as Readonly<Record<string, unknown>>)[name], path === '' ? name : `${path}.${name}`, found);
  }
}

/** Objects that the driver takes for values of its own: by their type's name, or for a reference to a document. */
function isTakenForAnother(value: object): boolean {
  if ('_bsontype' in value) return true;
  if (!('$ref' in value) || !('$id' in value)) return false;
  return typeof value.$ref === 'string' && value.$id !== null && value.$id !== undefined;
}
