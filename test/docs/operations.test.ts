import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-code.ts';
import { runProgram } from '../../src/cli/program.ts';
import { ANY_NAME, formatPath, keysOf } from '../../src/config/config-key.ts';
import { variableOf } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import { printConfig } from '../../src/config/print.ts';
import { configSchema } from '../../src/config/schema.ts';
import { TidemarkError } from '../../src/runtime/errors.ts';
import { memoryTerminal } from '../support/memory-terminal.ts';
import { textFiles } from '../support/repository.ts';

const root = join(import.meta.dirname, '..', '..');
let page = '';
beforeAll(async () => {
  page = await readFile(join(root, 'docs', 'operations.md'), 'utf8');
});

/** Cells of the tables below a heading, without head and rule. */
function tableBelow(heading: string): readonly (readonly string[])[] {
  const [, after = ''] = page.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [section = ''] = after.split(/^#+ /m);
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const unquoted = (cell = '') => cell.replaceAll('`', '');

describe('the table of config keys', () => {
  test('has every key, with its variable and its default', async () => {
    const config = await loadConfig({ file: undefined, environment: {}, flags: [], folder: root });
    const defaults = new Map(printConfig(config).map(({ key, value }) => [key, value.replace(root, '.')]));
    const expected = keysOf(configSchema)
      .filter(({ path }) => !path.includes(ANY_NAME))
      .map(({ path }) => [formatPath(path), defaults.get(formatPath(path)) ?? '', variableOf(path)]);
    const documented = tableBelow('Keys').map(([key, value, variable]) => [key, value, variable].map(unquoted));
    expect(documented.filter(([key = '']) => !key.startsWith('subscriptions.'))).toEqual(expected);
  });

  test('has the start of a subscription, whose other keys are those of the defaults', () => {
    const own = keysOf(configSchema.shape.subscriptions).map(({ path }) => formatPath(path.slice(1)));
    const defaults = keysOf(configSchema.shape.defaults).map(({ path }) => formatPath(path));
    expect(own).toEqual(['start', ...defaults]);
    const documented = tableBelow('Keys').map(([key]) => unquoted(key));
    expect(documented.filter((key) => key.startsWith('subscriptions.'))).toEqual([
      'subscriptions.<Processor.function>.start',
      'subscriptions.<Processor.function>.…',
    ]);
  });
});

describe('the config files', () => {
  test.each(['worker.embedded.yaml', 'worker.example.yaml'])('%s is valid, and its app is there', async (name) => {
    const config = await loadConfig({ file: join(root, 'config', name), environment: {}, flags: [], folder: root });
    await expect(readFile(config.values.app ?? '')).resolves.toBeDefined();
    expect(config.values.embedded.file).toBe(join(root, 'data', 'tidemark.db'));
  });

  test('worker.example.yaml has every key, each with its default but for the servers', async () => {
    const load = (file: string | undefined) => loadConfig({ file, environment: {}, flags: [], folder: root });
    const example = printConfig(await load(join(root, 'config', 'worker.example.yaml')));
    const plain = printConfig(await load(undefined));
    expect(example.filter(({ origin }) => origin === 'default')).toEqual([]);
    const chosen = new Map([
      ['log.kind', 'kafka'],
      ['store.kind', 'mongodb'],
    ]);
    for (const { key, value } of plain) {
      expect(example).toContainEqual(expect.objectContaining({ key, value: chosen.get(key) ?? value }));
    }
  });
});

async function helpOf(...command: readonly string[]): Promise<string> {
  const { terminal, output } = memoryTerminal();
  const input = { [Symbol.asyncIterator]: () => [][Symbol.iterator]() as never };
  const context = { terminal, environment: {}, folder: root, input, signal: new AbortController().signal };
  await runProgram({ args: [...command, '--help'], version: '0' }, context);
  return output.text;
}

async function commandNames(): Promise<readonly string[]> {
  const listed = (help: string) =>
    [...(help.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+)/gm)].flatMap(([, name = '']) =>
      name === 'help' ? [] : [name],
    );
  const names: string[] = [];
  for (const name of listed(await helpOf())) {
    const inner = listed(await helpOf(name));
    names.push(...(inner.length === 0 ? [name] : inner.map((one) => `${name} ${one}`)));
  }
  return names;
}

test('the table of commands has every command, and nothing else', async () => {
  const documented = tableBelow('Commands').map(([command = '']) =>
    unquoted(command)
      .replace(/^tidemark /, '')
      .replace(/ [-<].*$/, ''),
  );
  const names = await commandNames();
  expect(names.length).toBeGreaterThan(7);
  expect([...new Set(documented)].toSorted()).toEqual([...names].toSorted());
});

test('the table of logs has every sentence that is logged', () => {
  const sentence = /logger(?:\.\w+|\[level\])\(\s*'([^']+)'/g;
  const logged = textFiles('src').flatMap(({ text }) => [...text.matchAll(sentence)].map(([, said]) => said));
  expect(logged.length).toBeGreaterThan(5);
  const documented = tableBelow('Logs').map(([, said]) => said);
  expect(documented).toHaveLength(new Set(documented).size);
  expect(new Set(documented)).toEqual(new Set(logged));
});

test('the table of error codes has what a command ends with', () => {
  class AnyError extends TidemarkError {
    readonly code: string;

    constructor(code: string) {
      super(code);
      this.code = code;
    }
  }
  // The launcher's own, and no error of a command.
  const exits = tableBelow('Error codes').filter(([code]) => unquoted(code) !== 'NODE_MISSING');
  expect(exits.length).toBeGreaterThan(40);
  for (const [code, , , exit = ''] of exits) {
    const expected = exitCodeOf(new AnyError(unquoted(code)));
    // Those that end no command have no exit code; but one that has its own ends with it somewhere.
    expect({ code, exit: exit === '' && expected === 1 ? '1' : exit }).toEqual({ code, exit: String(expected) });
  }
});
