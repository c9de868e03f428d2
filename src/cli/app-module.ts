import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../runtime/errors.ts';
import type { Worker } from '../subscriptions/worker.ts';
import { AppBrokenError, AppMissingError, AppWithoutWorkerError } from './app-error.ts';

const packageRoot = new URL('../../', import.meta.url);
const isSource = import.meta.url.endsWith('.ts');

type Manifest = { readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>> };

let hasHooks = false;

/**
 * Makes `tidemark` and its subpaths mean the copy that runs, for modules in any folder: an app needs no dependency of its
 * own, and never gets a second copy whose classes and versions differ.
 */
function resolveOwnName(): void {
  if (hasHooks) return;
  hasHooks = true;
  const urls = ownUrls();
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}

function ownUrls(): ReadonlyMap<string, string> {
  const manifest = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as Manifest;
  const urls = new Map<string, string>();
  for (const [subpath, targets] of Object.entries(manifest.exports)) {
    const target = typeof targets === 'string' ? targets : targets[isSource ? 'tidemark-source' : 'default'];
    if (target !== undefined) urls.set(`tidemark${subpath.slice(1)}`, new URL(target, packageRoot).href);
  }
  return urls;
}

/**
 * Loads the module and gives the worker it exports, its default or the one named `worker`.
 * Throws `APP_MISSING`, `APP_BROKEN`, `APP_WITHOUT_WORKER`.
 */
export async function loadApp(path: string): Promise<Worker> {
  await assertFile(path);
  resolveOwnName();
  const exported = await importApp(path);
  const candidate = exportedValue(exported);
  const inner = isRecord(candidate) && !isWorker(candidate) ? (candidate['worker'] ?? candidate['default']) : undefined;
  // A CommonJS module's exports arrive as its default.
  const worker = [candidate, inner].find(isWorker);
  if (worker !== undefined) return worker;
  const found =
    candidate === undefined
      ? `It exports ${namesOf(exported).join(', ') || 'nothing'}.`
      : `It exports ${describeExport(candidate)} instead.`;
  throw new AppWithoutWorkerError(`The app ${path} exports no worker. ${found}`, {
    details: { app: path },
    hint: 'End the module with: export default worker({ context, subscriptions: [...] })',
  });
}

/** Its default, or what it calls `worker`. A module without any export passes for CommonJS with an empty default. */
function exportedValue(exported: Readonly<Record<string, unknown>>): unknown {
  const { default: main, worker } = exported;
  const isEmpty = isRecord(main) && Object.keys(main).length === 0 && !Array.isArray(main);
  return isEmpty ? worker : (main ?? worker);
}

async function assertFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) return;
  throw new AppMissingError(`The app ${path} ${found === undefined ? 'is not there' : 'is not a file'}`, {
    details: { app: path },
    hint: 'Set app to the path of the module with the worker; in a config file it is relative to that file.',
  });
}

async function importApp(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new AppBrokenError(`The app ${path} cannot be loaded: ${messageOf(error)}${placeOf(error)}`, {
      details: { app: path },
      hint: hintFor(error),
      cause: error,
    });
  }
}

/** Where the error came up, as the first place in a file that its stack names. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const place = /(?:file:\/\/|\()?((?:\/|[A-Za-z]:[\\/])[^\s():]+:\d+(?::\d+)?)/.exec(stack)?.[1];
  return place === undefined ? '' : ` (${place})`;
}

function hintFor(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ERR_MODULE_NOT_FOUND':
    case 'MODULE_NOT_FOUND':
      return 'Install what the app imports beside it, and write imports of own files with their ending.';
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
    case 'ERR_INVALID_TYPESCRIPT_SYNTAX':
      return 'TypeScript runs by stripping types: enums, namespaces, parameter properties and decorators must be compiled before.';
    default:
      return /import statement outside a module/.test(messageOf(error))
        ? 'Name it .mts or .mjs, or set "type": "module" in the package.json beside it.'
        : 'Correct the module; --verbose shows the stack.';
  }
}

function namesOf(exported: object): readonly string[] {
  return Object.keys(exported).filter((name) => name !== 'default' && name !== 'module.exports');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isWorker(value: unknown): value is Worker {
  return (
    isRecord(value) &&
    value['kind'] === ('tidemark.worker' satisfies Worker['kind']) &&
    typeof value['context'] === 'string' &&
    Array.isArray(value['subscriptions'])
  );
}

function describeExport(value: unknown): string {
  if (!isRecord(value)) return `a ${typeof value}`;
  if (typeof value['kind'] === 'string') return `a value of kind ${value['kind']}`;
  return Array.isArray(value) ? 'a list' : 'an object';
}
