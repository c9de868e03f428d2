import { z } from 'zod';
import { TidemarkError } from '../runtime/errors.ts';

/** A single setting: how it is read from a file, a variable or a flag, and how it is told. */
export type Leaf<T> = {
  /** What a value must be, as it completes `expected …`. */
  readonly expects: string;
  readonly description: string;
  /** Reads what YAML gave, or the text of a variable or flag; `undefined` or a `TidemarkError` refuses it. */
  readonly parse: (value: unknown) => T | undefined;
  /** As one would write it in the file. */
  readonly format: (value: T) => string;
  /** For editors. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** Whether no message may show a value that was given; default false. */
  readonly isSecret?: boolean;
};

type AnyLeaf = Pick<Leaf<never>, 'expects' | 'description' | 'jsonSchema'> & {
  readonly isSecret: boolean;
  readonly print: (value: unknown) => string;
};

const leaves = new WeakMap<z.core.$ZodType, AnyLeaf>();

export function leaf<T>(definition: Leaf<T>): z.ZodType<T> {
  const schema = z.unknown().transform((value, context): T => {
    const parsed = parseOrRefuse(definition, value);
    if (parsed !== undefined) return parsed;
    context.addIssue({ code: 'custom', message: definition.expects });
    return z.NEVER;
  });
  leaves.set(schema, {
    ...definition,
    isSecret: definition.isSecret ?? false,
    // Only values that this leaf parsed reach it.
    print: (value) => definition.format(value as T),
  });
  return schema;
}

function parseOrRefuse<T>({ parse }: Leaf<T>, value: unknown): T | undefined {
  try {
    return parse(value);
  } catch (error) {
    if (error instanceof TidemarkError) return undefined;
    throw error;
  }
}

/** The leaf a schema is, through defaults and options; `undefined` for sections. */
export function leafOf(schema: z.core.$ZodType): AnyLeaf | undefined {
  return leaves.get(unwrapped(schema));
}

/** A schema without the defaults and options around it. */
export function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return unwrapped(schema.unwrap());
  }
  return schema;
}
