import { z } from 'zod';
import { ANY_NAME, formatPath, type KeyPath, keysOf, pathKey } from './config-key.ts';
import { leafOf } from './leaf.ts';
import type { Config } from './load.ts';
import { formatOrigin } from './origin.ts';
import { configSchema } from './schema.ts';

/** One effective value as people read it. Secrets are `[redacted]`. */
export type PrintedValue = { readonly key: string; readonly value: string; readonly origin: string };

/** Every effective value with where it came from, in the order of the schema. What has no value is left out. */
export function printConfig({ values, origins }: Config): readonly PrintedValue[] {
  return keysOf(configSchema).flatMap(({ path, schema }) =>
    pathsOf(path, values).flatMap((concrete) => {
      const value = valueAt(values, concrete);
      if (value === undefined) return [];
      const origin = origins.get(pathKey(concrete)) ?? ({ kind: 'default' } as const);
      return [{ key: formatPath(concrete), value: leafOf(schema)?.print(value) ?? '', origin: formatOrigin(origin) }];
    }),
  );
}

/** The path itself, or one per entry where it leads through a record. */
function pathsOf(path: KeyPath, values: unknown): readonly KeyPath[] {
  const any = path.indexOf(ANY_NAME);
  if (any < 0) return [path];
  const entries = valueAt(values, path.slice(0, any));
  return typeof entries === 'object' && entries !== null
    ? Object.keys(entries).map((name) => path.with(any, name))
    : [];
}

function valueAt(values: unknown, path: KeyPath): unknown {
  let at: unknown = values;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return at;
}

/** A JSON Schema of the file, for editors. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(configSchema, {
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      const leaf = leafOf(zodSchema);
      if (leaf === undefined) return;
      Object.assign(jsonSchema, { description: leaf.description }, leaf.jsonSchema);
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default = leaf.print(zodSchema.def.defaultValue);
    },
  });
}
