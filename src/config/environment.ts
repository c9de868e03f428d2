import type { z } from 'zod';
import type { ConfigProblem } from './config-error.ts';
import { ANY_NAME, type KeyPath, keysOf } from './config-key.ts';
import { nearestName } from './nearest-name.ts';
import type { Given } from './origin.ts';

/** Variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'TIDEMARK_';

/** Names the config file; read by the command line. */
export const CONFIG_VARIABLE = 'TIDEMARK_CONFIG';

/**
 * Variables with our prefix that are not ours: those of the project's own tests, and what Kubernetes sets in every
 * container of a namespace that has a service named `tidemark` or `tidemark-…`.
 */
const NOT_OURS =
  /^TIDEMARK_(TEST_.*|(.*_)?SERVICE_(HOST|PORT(_.*)?)|(.*_)?PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** `embedded.file` → `TIDEMARK_EMBEDDED_FILE`; a name in a record stands between double underscores. */
export function variableOf(path: KeyPath, name = '<Processor>__<function>'): string {
  const any = path.indexOf(ANY_NAME);
  if (any < 0) return PREFIX + path.map(upperSnake).join('_');
  const before = path.slice(0, any).map(upperSnake).join('_');
  return `${PREFIX}${before}__${name.replaceAll('.', '__')}__${path
    .slice(any + 1)
    .map(upperSnake)
    .join('_')}`;
}

function upperSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Reads the variables that start with `TIDEMARK_`. An empty one counts as not set. */
export function readEnvironment(
  environment: Environment,
  schema: z.core.$ZodType,
): { readonly given: readonly Given[]; readonly problems: readonly ConfigProblem[] } {
  const keys = keysOf(schema).map(({ path }) => path);
  const given: Given[] = [];
  const problems: ConfigProblem[] = [];
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || variable === CONFIG_VARIABLE || value === undefined || value === '') continue;
    const path = pathOf(variable, keys);
    const origin = { kind: 'environment', variable } as const;
    if (path !== undefined) {
      given.push({ path, value, origin });
    } else if (!NOT_OURS.test(variable)) {
      const nearest = nearestName(variable, [CONFIG_VARIABLE, ...keys.map((key) => variableOf(key))]);
      const expected = nearest === undefined ? 'the name of a setting' : `the name of a setting (nearest: ${nearest})`;
      problems.push({ path: variable, expected, got: 'an unknown variable', origin });
    }
  }
  return { given, problems };
}

function pathOf(variable: string, keys: readonly KeyPath[]): KeyPath | undefined {
  const [before, processor, handler, after, ...more] = variable.split('__');
  for (const path of keys) {
    const any = path.indexOf(ANY_NAME);
    if (any < 0) {
      if (variableOf(path) === variable) return path;
      continue;
    }
    if (processor === undefined || handler === undefined || after === undefined || more.length > 0) continue;
    const name = `${processor}.${handler}`;
    if (`${before}` !== '' && variableOf(path, name) === variable) return path.with(any, name);
  }
  return undefined;
}
