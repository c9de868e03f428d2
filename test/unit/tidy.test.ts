import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importsOf, type RepositoryFile, textFiles } from '../support/repository.ts';

const files = textFiles().filter(({ path }) => !path.startsWith('.ci/'));
const paths = new Set(files.map(({ path }) => path));
const sources = files.filter(({ path }) => /^src\/.*\.ts$/.test(path));
const scripts = files.filter(({ path }) => path.endsWith('.ts'));

/** Runs a check over files and says where it found something: an empty list is what every test below expects. */
function findings(among: readonly RepositoryFile[], check: (file: RepositoryFile) => readonly string[]): string[] {
  return among.flatMap((file) => check(file).map((finding) => `${file.path}: ${finding}`));
}

/*
 * Folder arrows. The core, from the bottom: each folder may import what is named beside it, and itself. A read model's
 * commit writes changes of the failure ledger in the same transaction, hence the arrow between those two neighbours.
 */
const values = ['runtime', 'log'];
const stores = [...values, 'checkpoints', 'read-models', 'failures', 'reservations', 'prepare-keys'];
const handling = [...stores, 'aggregates', 'subscriptions'];
const core = [...handling, 'projections', 'reactors', 'reservations/keeper', 'engine', 'replay'];
const adapters = ['adapters/node', 'adapters/embedded', 'adapters/kafka', 'adapters/mongo', 'adapters/redis'];
const cli = [...core, 'index', 'admin', 'config', 'testing', 'cli', 'cli/compose'];

const allowed: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  log: ['runtime'],
  checkpoints: values,
  'read-models': [...values, 'checkpoints', 'failures'],
  failures: [...values, 'checkpoints'],
  reservations: values,
  'prepare-keys': values,
  aggregates: values,
  subscriptions: [...stores, 'aggregates'],
  projections: handling,
  reactors: handling,
  'reservations/keeper': handling,
  engine: handling,
  replay: core,
  'adapters/node': core,
  'adapters/embedded': core,
  'adapters/kafka': core,
  'adapters/mongo': core,
  'adapters/redis': core,
  index: core,
  config: core,
  admin: [...core, 'config'],
  testing: [...core, 'adapters/embedded', 'adapters/node'],
  cli,
  'cli/compose': [...cli, ...adapters],
};

/** Packages and modules of Node that a part may import; parts that are not named here may import any. */
const allowedPackages: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries([...core, 'index'].map((part) => [part, /^$/])),
  'adapters/node': /^(node:|pino)/,
  'adapters/embedded': /^node:/,
  'adapters/kafka': /^(node:|kafkajs$)/,
  'adapters/mongo': /^(node:|(mongodb|p-retry)$)/,
  'adapters/redis': /^(node:|redis$)/,
};

/** The part of `src/` that a file belongs to: a key of the table above, or a new folder that is missing there. */
function partOf(path: string): string {
  const inside = path.replace(/^src\//, '').replace(/\.ts$/, '');
  if (inside === 'cli/compose') return inside;
  if (/^reservations\/keeper(\b|\/)/.test(inside)) return 'reservations/keeper';
  const [first = '', second = ''] = inside.split('/');
  return first === 'adapters' ? `${first}/${second}` : first;
}

function wrongArrows({ path, text }: RepositoryFile): string[] {
  const part = partOf(path);
  const below = allowed[part];
  if (below === undefined) return [`${part} is not in the table of folder arrows`];
  return importsOf(text).filter((specifier) => {
    if (!specifier.startsWith('.')) return !(allowedPackages[part] ?? /./).test(specifier);
    const imported = posix.join(posix.dirname(path), specifier);
    // A read of the manifest, for the version, leads out of src/ and has no arrow.
    if (!imported.startsWith('src/')) return imported !== 'package.json';
    const target = partOf(imported);
    return target !== part && !below.includes(target);
  });
}

describe('folders', () => {
  test('import only what lies below them', () => {
    expect(findings(sources, wrongArrows)).toEqual([]);
  });

  test.each([
    ['a folder above', 'src/log/ref.ts', "import { a } from '../subscriptions/a.ts';"],
    ['an adapter, over several lines', 'src/log/ref.ts', "import type {\n  A,\n  B,\n} from '../adapters/mongo/a.ts';"],
    ['a module of Node, by re-export', 'src/log/ref.ts', "export * from 'node:fs';"],
    ['a package, by a call', 'src/log/ref.ts', "const a = await import('zod');"],
    ['the keeper', 'src/reservations/reservation.ts', "import { a } from './keeper.ts';"],
    ['another adapter, for its effect', 'src/adapters/mongo/a.ts', "import '../embedded/index.ts';"],
    ["another adapter's driver", 'src/adapters/mongo/a.ts', "import { Kafka } from 'kafkajs';"],
    ['an adapter from outside of compose', 'src/cli/main.ts', "import { a } from '../adapters/embedded/index.ts';"],
    ['nothing, in a folder nobody knows', 'src/unheard-of/a.ts', ''],
  ])('are caught when they import %s', (_what, path, text) => {
    expect(wrongArrows({ path, text })).toHaveLength(1);
  });

  test('are let through where the arrow is in the table', () => {
    const keeper = "import { a } from '../subscriptions/a.ts';\nimport { b } from './reservation.ts';";
    expect(wrongArrows({ path: 'src/reservations/keeper.ts', text: keeper })).toEqual([]);
    const compose = "import { a } from '../adapters/mongo/a.ts';\nimport pino from 'pino';";
    expect(wrongArrows({ path: 'src/cli/compose.ts', text: compose })).toEqual([]);
  });

  test('keep each package to one folder', () => {
    const users = new Map<string, Set<string>>();
    for (const { path, text } of sources) {
      for (const specifier of importsOf(text)) {
        if (/^(\.|node:)/.test(specifier)) continue;
        const folder = partOf(path).replace(/^cli\/.*/, 'cli');
        users.set(specifier, (users.get(specifier) ?? new Set()).add(folder));
      }
    }
    const spread = [...users].filter(([, folders]) => folders.size > 1);
    expect(spread.map(([specifier, folders]) => `${specifier}: ${[...folders].join(', ')}`)).toEqual([]);
  });
});

describe('files of src', () => {
  test('have at most 400 lines', () => {
    const tooLong = ({ text }: RepositoryFile) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > 400 ? [`${lines} lines`] : [];
    };
    expect(findings(sources, tooLong)).toEqual([]);
  });

  test('are named for a concept, as their folders are', () => {
    const collecting =
      /^(utils?|helpers?|common|types?|interfaces?|services?|impl|manager)$|-(utils?|helpers?|impl|manager)$/;
    const badNames = ({ path }: RepositoryFile) =>
      path.split('/').filter((segment) => collecting.test(segment.replace(/\..*$/, '')));
    expect(findings(sources, badNames)).toEqual([]);
    expect(badNames({ path: 'src/log/utils.ts', text: '' })).toEqual(['utils.ts']);
  });

  test('export by name', () => {
    const defaults = ({ text }: RepositoryFile) => text.match(/^\s*export\s+default\b|\bas\s+default\b/gm) ?? [];
    expect(findings(sources, defaults)).toEqual([]);
  });
});

describe('the repository', () => {
  test('has no postponed work in its code', () => {
    const marks = new RegExp(
      `\\b(${['TO', 'FIX'].map((verb, index) => verb + ['DO', 'ME'][index]).join('|')})\\b`,
      'g',
    );
    expect(findings(scripts, ({ text }) => text.match(marks) ?? [])).toEqual([]);
    expect(['// TO', 'DO: later'].join('')).toMatch(marks);
  });

  test('says nothing of the place where it was written', () => {
    // Put together here, so that this file does not hold them.
    const words = ['assis tant', 'sub agent'].map((word) => word.replace(' ', ''));
    const phrase = ['this', 'session'].join('\\s+');
    const folders = ['work', 'root'].map((folder) => `(?<![\\w.~-])/${folder}/`);
    const pattern = new RegExp(`\\b(${words.join('|')})s?\\b|\\b${phrase}\\b|${folders.join('|')}`, 'gi');
    expect(findings(files, ({ text }) => text.match(pattern) ?? [])).toEqual([]);
    expect(['see ', 'work', 'main'].join('/')).toMatch(pattern);
    expect('https://example.org/work/a').not.toMatch(pattern);
  });

  test('names no registry in its lock file', () => {
    const lock = files.find(({ path }) => path === 'package-lock.json');
    expect(lock?.text).toContain('"lockfileVersion"');
    expect(lock?.text).not.toMatch(/"resolved":\s*"(?!tools\/)/);
  });
});

/** Codes of error classes, `code = 'X'`, and of plain values, `code: 'X'`. Codes of Node and its drivers are compared, never set. */
function codesInSource(text: string): string[] {
  return [...text.matchAll(/\bcode\s*[:=]\s*((?:\|?\s*'[A-Z][A-Z0-9_]*'\s*)+)/g)].flatMap(
    ([, literals]) => literals?.match(/[A-Z][A-Z0-9_]*/g) ?? [],
  );
}

/** The first column of the tables below a heading that speaks of errors. */
function codesInDocs(markdown: string): string[] {
  const codes: string[] = [];
  let isErrorSection = false;
  for (const line of markdown.split('\n')) {
    const heading = /^#+\s+(.*)/.exec(line)?.[1];
    if (heading !== undefined) isErrorSection = /\berrors?\b/i.test(heading);
    const code = /^\|\s*`([A-Z][A-Z0-9_]*)`\s*\|/.exec(line)?.[1];
    if (isErrorSection && code !== undefined) codes.push(code);
  }
  return codes;
}

const sorted = (codes: readonly string[]) => [...new Set(codes)].toSorted((a, b) => a.localeCompare(b));

describe('error codes', () => {
  test('stand in the table of docs/operations.md, and nothing else does', () => {
    const operations = files.find(({ path }) => path === 'docs/operations.md');
    const documented = codesInDocs(operations?.text ?? '');
    expect(documented).toEqual([...new Set(documented)]);
    expect(sorted(documented)).toEqual(sorted(sources.flatMap(({ text }) => codesInSource(text))));
  });

  test('are found in code and in tables', () => {
    const source =
      "readonly code = 'A_B';\nconst e = { code: 'C' };\nreadonly code: 'D' | 'E';\nif (e.code === 'F') {}";
    expect(codesInSource(source)).toEqual(['A_B', 'C', 'D', 'E']);
    const markdown =
      '## Exit\n| `X` | no |\n## Error codes\n| code | what |\n| --- | --- |\n| `A_B` | yes |\n## Metrics\n';
    expect(codesInDocs(markdown)).toEqual(['A_B']);
  });
});

/** Links inside the repository, without their anchors, as paths from its root; code is no link. */
function relativeLinks({ path, text }: RepositoryFile): string[] {
  const prose = text.replaceAll(/^(\s*)(```|~~~)[^]*?^\1\2/gm, '').replaceAll(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s*(\S+)|\b(?:src|href)="([^"]+)"/gm)];
  return links
    .map(([, inline, reference, html]) => inline ?? reference ?? html ?? '')
    .filter((target) => !/^([a-z][a-z0-9+.-]*:|#)/i.test(target))
    .map((target) => posix.join(posix.dirname(path), target.replace(/[#?].*$/, '')).replace(/\/$/, ''));
}

describe('documentation', () => {
  const pages = files.filter(({ path }) => path === 'README.md' || /^docs\/.*\.md$/.test(path));
  const exists = (target: string) => paths.has(target) || files.some(({ path }) => path.startsWith(`${target}/`));

  test('links only to files that exist', () => {
    expect(pages.map(({ path }) => path)).toContain('README.md');
    expect(findings(pages, (page) => relativeLinks(page).filter((target) => !exists(target)))).toEqual([]);
  });

  test('is searched for links in all their forms', () => {
    const text = [
      '[a](b.md#c) [x](https://x.org) `[n](no.md)` [d](../src/)',
      '[r]: ref.md',
      '<img src="i.png">',
      '```\n[n](no.md)\n```',
    ].join('\n');
    expect(relativeLinks({ path: 'docs/page.md', text })).toEqual(['docs/b.md', 'src', 'docs/ref.md', 'docs/i.png']);
  });
});
