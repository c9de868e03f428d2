import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../runtime/errors.ts';
import { ConfigError, type ConfigProblem, ConfigUnreadableError, describeValue } from './config-error.ts';
import { readConfigFile } from './config-file.ts';
import { findKey, formatPath, type KeyPath, keysOf, namesIn, pathKey, schemaAt } from './config-key.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { leafOf, unwrapped } from './leaf.ts';
import { nearestName } from './nearest-name.ts';
import type { Given, Origin } from './origin.ts';
import { type ConfigValues, configSchema } from './schema.ts';

/** A setting given on the command line. */
export type FlagValue = { readonly key: string; readonly value: string; readonly flag: string };

export type ConfigSources = {
  /** `undefined`: no file, only variables, flags and defaults. */
  readonly file: string | undefined;
  readonly environment: Environment;
  readonly flags: readonly FlagValue[];
  /** The current folder. */
  readonly folder: string;
};

/** The effective config, frozen. Paths in it are absolute. */
export type Config = {
  readonly values: ConfigValues;
  /** By `pathKey`, for all that did not come from a default. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly file: string | undefined;
};

/**
 * Reads file, variables and flags, later ones winning, and checks the result.
 * Throws `CONFIG_UNREADABLE`, or `CONFIG_INVALID` with all problems of all sources at once.
 */
export async function loadConfig({ file, environment, flags, folder }: ConfigSources): Promise<Config> {
  const path = file === undefined ? undefined : resolve(folder, file);
  const sources = [
    path === undefined
      ? { given: [], problems: [] }
      : readConfigFile(await readText(path), { file: basename(path), schema: configSchema, environment }),
    readEnvironment(environment, configSchema),
    readFlags(flags, configSchema),
  ];
  const given = sources.flatMap((source) => source.given);
  const checked = checkValues(configSchema, given);
  const read = sources.flatMap((source) => source.problems);
  // What could not be read is not missing as well.
  const problems = [...read, ...checked.problems.filter(({ path: at }) => !read.some((one) => one.path === at))];
  if (problems.length > 0 || checked.values === undefined) throw new ConfigError(problems);
  const origins = new Map(given.map((one) => [pathKey(one.path), one.origin]));
  const appFolder = origins.get(pathKey(['app']))?.kind === 'file' && path !== undefined ? dirname(path) : folder;
  const { app, embedded, log, ...rest } = checked.values;
  const values: ConfigValues = {
    ...(app === undefined ? {} : { app: resolve(appFolder, app) }),
    ...rest,
    log: { ...log, tls: { ...log.tls, ...resolved(folder, log.tls) } },
    embedded: { ...embedded, file: resolve(folder, embedded.file) },
  };
  return { values: deepFreeze(values), origins, file: path };
}

/** Absolute paths of the files of TLS that are named. */
function resolved(
  folder: string,
  { ca, cert, key }: ConfigValues['log']['tls'],
): Pick<ConfigValues['log']['tls'], 'ca' | 'cert' | 'key'> {
  return {
    ...(ca === undefined ? {} : { ca: resolve(folder, ca) }),
    ...(cert === undefined ? {} : { cert: resolve(folder, cert) }),
    ...(key === undefined ? {} : { key: resolve(folder, key) }),
  };
}

/** The app's path. Throws `CONFIG_INVALID` where none is given: not every command needs one. */
export function appOf({ values, file }: Config): string {
  if (values.app !== undefined) return values.app;
  const origin: Origin =
    file === undefined ? { kind: 'default' } : { kind: 'file', file: basename(file), line: undefined };
  throw new ConfigError([
    { path: 'app', expected: leafOf(configSchema.shape.app)?.expects ?? 'a path', got: 'nothing', origin },
  ]);
}

/** Throws `CONFIG_INVALID` for entries of `subscriptions` that the app has no function for. */
export function checkSubscriptionNames({ values, origins }: Config, names: readonly string[]): void {
  const unknown = Object.keys(values.subscriptions).filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  throw new ConfigError(
    unknown.map((name) => ({
      path: `subscriptions.${name}`,
      expected: `a subscription of the app (${nearestOrAll(name, names)})`,
      got: 'an unknown name',
      origin: originBelow(origins, ['subscriptions', name]),
    })),
  );
}

function nearestOrAll(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  return nearest === undefined ? `there are ${names.join(', ')}` : `nearest: ${nearest}`;
}

function originBelow(origins: ReadonlyMap<string, Origin>, path: KeyPath): Origin {
  const start = pathKey(path).slice(0, -1);
  for (const [key, origin] of origins) if (key.startsWith(start)) return origin;
  return { kind: 'default' };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigUnreadableError(`The config file ${path} cannot be read: ${messageOf(error)}`, {
      details: { file: path },
      hint: 'Name an existing file with --config.',
      cause: error,
    });
  }
}

function readFlags(
  flags: readonly FlagValue[],
  schema: z.core.$ZodType,
): { readonly given: readonly Given[]; readonly problems: readonly ConfigProblem[] } {
  const given: Given[] = [];
  const problems: ConfigProblem[] = [];
  for (const { key, value, flag } of flags) {
    const origin = { kind: 'flag', flag } as const;
    const path = findKey(schema, key);
    if (path !== undefined) given.push({ path, value, origin });
    else
      problems.push({
        path: key,
        expected: expectedName(
          key,
          keysOf(schema).map((one) => formatPath(one.path)),
        ),
        got: 'an unknown key',
        origin,
      });
  }
  return { given, problems };
}

function expectedName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? `a known key (${known.join(', ')})` : `a known key (nearest: ${nearest})`;
}

/** Checks given values, later ones winning, against a schema: its output, or all problems. */
export function checkValues<T extends z.ZodType>(
  schema: T,
  given: readonly Given[],
): { readonly values: z.output<T> | undefined; readonly problems: readonly ConfigProblem[] } {
  const tree = treeOf(given);
  const nameless = given.filter(({ path }) => isNameless(path, schema)).map(namelessEntry);
  const parsed = schema.safeParse(tree);
  if (parsed.success) return { values: nameless.length > 0 ? undefined : parsed.data, problems: nameless };
  const byPath = new Map(given.map((one) => [pathKey(one.path), one]));
  const problems = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownKey([...path, key], schema, byPath));
    }
    const at = schemaAt(schema, path);
    const leaf = at === undefined ? undefined : leafOf(at);
    const one = byPath.get(pathKey(path));
    const value = leaf?.isSecret === true && one !== undefined ? '[redacted]' : describeValue(one?.value);
    const expected = leaf?.expects ?? 'a section with keys';
    return [{ path: formatPath(path), expected, got: value, origin: one?.origin ?? ({ kind: 'default' } as const) }];
  });
  return { values: undefined, problems: [...nameless, ...problems] };
}

/** Whether a record has an entry named `__proto__` here: objects make something else of it, and the schema drops it. */
function isNameless(path: KeyPath, schema: z.core.$ZodType): boolean {
  const place = path.indexOf('__proto__');
  if (place < 0) return false;
  const section = schemaAt(schema, path.slice(0, place));
  return section !== undefined && unwrapped(section) instanceof z.ZodRecord;
}

function namelessEntry({ path, origin }: Given): ConfigProblem {
  return {
    path: formatPath(path),
    expected: 'another name than __proto__',
    got: 'a name that nothing can have',
    origin,
  };
}

function unknownKey(path: KeyPath, schema: z.core.$ZodType, byPath: ReadonlyMap<string, Given>): ConfigProblem {
  const section = path.slice(0, -1);
  return {
    path: formatPath(path),
    expected: expectedName(path.at(-1) ?? '', namesIn(schemaAt(schema, section))),
    got: 'an unknown key',
    origin: byPath.get(pathKey(path))?.origin ?? { kind: 'default' },
  };
}

type Tree = { [name: string]: unknown };

/** Sections without a prototype: a key named `__proto__` is a key like any other. */
function treeOf(given: readonly Given[]): Tree {
  const tree: Tree = Object.create(null) as Tree;
  for (const { path, value } of given) {
    let section: Tree | undefined = tree;
    for (const name of path.slice(0, -1)) section = section === undefined ? undefined : sectionIn(section, name);
    // Where the file has a plain value in place of a section, that is the problem to report.
    if (section !== undefined) section[path.at(-1) ?? ''] = value;
  }
  return tree;
}

function sectionIn(section: Tree, name: string): Tree | undefined {
  section[name] ??= Object.create(null);
  const child = section[name];
  return typeof child === 'object' && !Array.isArray(child) ? (child as Tree) : undefined;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
