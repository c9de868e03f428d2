import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import type { ConfigProblem } from './config-error.ts';
import { formatPath, type KeyPath, schemaAt } from './config-key.ts';
import type { Environment } from './environment.ts';
import { leafOf, unwrapped } from './leaf.ts';
import type { Given, Origin } from './origin.ts';

export type Read = { readonly given: readonly Given[]; readonly problems: readonly ConfigProblem[] };

type FileOptions = { readonly file: string; readonly schema: z.core.$ZodType; readonly environment: Environment };

/** Reads the text of a YAML file. `${VAR}` and `${VAR:default}` are replaced inside of texts; `$${` stands for `${`. */
export function readConfigFile(text: string, { file, schema, environment }: FileOptions): Read {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const originAt = (offset: number | undefined): Origin => ({
    kind: 'file',
    file,
    line: offset === undefined ? undefined : lines.linePos(offset).line,
  });
  if (document.errors.length > 0) {
    return { given: [], problems: document.errors.map((error) => yamlProblem(error, originAt(error.pos[0]))) };
  }
  const problems: ConfigProblem[] = [];
  const given = valuesIn(document.toJS(), [], schema).map(({ path, value }): Given => {
    const origin = originAt(offsetOf(document.contents, path));
    const expanded = expandAll(value, environment);
    for (const name of expanded.missing) {
      problems.push({ path: formatPath(path), expected: `the variable ${name} to be set`, got: 'nothing', origin });
    }
    // With a mistake of its own already, the value must not be reported twice.
    return { path, value: expanded.value, origin };
  });
  const broken = new Set(problems.map(({ path }) => path));
  return { given: given.filter(({ path }) => !broken.has(formatPath(path))), problems };
}

function yamlProblem(error: { readonly message: string }, origin: Origin): ConfigProblem {
  return { path: 'file', expected: 'YAML', got: error.message, origin };
}

/** The values of a tree with their paths. Goes into sections only: what stands where a setting is expected is a value. */
function valuesIn(value: unknown, path: KeyPath, schema: z.core.$ZodType): readonly Pick<Given, 'path' | 'value'>[] {
  const at = schemaAt(schema, path);
  if (at === undefined || leafOf(at) !== undefined) return [{ path, value }];
  // A section whose lines are all commented out.
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || Array.isArray(value)) return [{ path, value }];
  const entries = Object.entries(value);
  // An empty entry of a record still names something.
  if (entries.length === 0 && path.length > 0) return [{ path, value }];
  return entries.flatMap(([name, child]: readonly [string, unknown]) =>
    child === null && unwrapped(at) instanceof z.ZodRecord
      ? [{ path: [...path, name], value: {} }]
      : valuesIn(child, [...path, name], schema),
  );
}

/** Where the key of a path stands in the text. */
function offsetOf(contents: unknown, path: KeyPath): number | undefined {
  let node = contents;
  let offset: number | undefined;
  for (const name of path) {
    if (!isMap(node)) return offset;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
    if (pair === undefined) return offset;
    if (isScalar(pair.key)) offset = pair.key.range?.[0];
    node = pair.value;
  }
  return offset;
}

/** `$${`, `${NAME}` or `${NAME:default}`; a default holds no `}`. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::([^}]*))?\}/g;

/** Replaces references in a text, or in each text of a list. */
function expandAll(
  value: unknown,
  environment: Environment,
): { readonly value: unknown; readonly missing: readonly string[] } {
  if (typeof value === 'string') {
    const { text, missing } = expand(value, environment);
    return { value: text, missing };
  }
  if (!Array.isArray(value)) return { value, missing: [] };
  const items = value.map((item) => expandAll(item, environment));
  return { value: items.map((item) => item.value), missing: items.flatMap(({ missing }) => missing) };
}

/** Replaces references to variables. An empty variable counts as not set. */
function expand(
  text: string,
  environment: Environment,
): { readonly text: string; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const expanded = text.replace(REFERENCE, (_whole, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return '${';
    const value = environment[name];
    if (value !== undefined && value !== '') return value;
    if (fallback === undefined) missing.push(name);
    return fallback ?? '';
  });
  return { text: expanded, missing };
}
