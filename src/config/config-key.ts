import { z } from 'zod';
import { leafOf, unwrapped } from './leaf.ts';

/** Where a value stands in the config; a subscription's name is one segment. */
export type KeyPath = readonly string[];

/** As people write it. */
export function formatPath(path: KeyPath): string {
  return path.join('.');
}

/** A map key for a path; injective. */
export function pathKey(path: KeyPath): string {
  return JSON.stringify(path);
}

/** Stands for any name in the paths of settings that each entry of a record has. */
export const ANY_NAME = '*';

/** A setting: where it stands and its schema. */
export type ConfigKey = { readonly path: KeyPath; readonly schema: z.core.$ZodType };

/** Every setting below a schema, in its order; those of a record's entries once, with `*` for the name. */
export function keysOf(schema: z.core.$ZodType, path: KeyPath = []): readonly ConfigKey[] {
  if (leafOf(schema) !== undefined) return [{ path, schema }];
  const section = unwrapped(schema);
  if (section instanceof z.ZodObject) {
    return [...shapeOf(section)].flatMap(([name, child]) => keysOf(child, [...path, name]));
  }
  if (section instanceof z.ZodRecord) return keysOf(section.valueType, [...path, ANY_NAME]);
  return [];
}

/** The schema at a path, whether a setting or a section; `undefined` where there is none. */
export function schemaAt(schema: z.core.$ZodType, path: KeyPath): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const name of path) {
    const section: z.core.$ZodType = unwrapped(at);
    if (section instanceof z.ZodRecord) at = section.valueType;
    else if (section instanceof z.ZodObject) at = shapeOf(section).get(name);
    else at = undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

function shapeOf(section: z.ZodObject): ReadonlyMap<string, z.core.$ZodType> {
  return new Map(Object.entries(section.shape));
}

/** The names a section declares; empty for records and settings. */
export function namesIn(schema: z.core.$ZodType | undefined): readonly string[] {
  if (schema === undefined) return [];
  const section = unwrapped(schema);
  return section instanceof z.ZodObject ? Object.keys(section.shape) : [];
}

/**
 * Finds the setting a dotted text names. A record's entry may have dots in its name (`Processor.function`): what follows
 * the name is a setting that entries have.
 */
export function findKey(schema: z.core.$ZodType, text: string): KeyPath | undefined {
  const named = text.split('.');
  for (const { path } of keysOf(schema)) {
    const any = path.indexOf(ANY_NAME);
    if (any < 0) {
      if (formatPath(path) === text) return path;
      continue;
    }
    const before = path.slice(0, any);
    const after = path.slice(any + 1);
    const name = named.slice(before.length, named.length - after.length);
    if (name.length === 0 || formatPath([...before, ...name, ...after]) !== text) continue;
    return [...before, formatPath(name), ...after];
  }
  return undefined;
}
