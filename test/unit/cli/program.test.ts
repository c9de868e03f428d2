import { describe, expect, test } from 'vitest';
import type { ExitCode } from '../../../src/cli/exit-code.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { memoryTerminal } from '../../support/memory-terminal.ts';

type Result = { readonly code: ExitCode; readonly output: string; readonly error: string };

async function tidemark(...args: readonly string[]): Promise<Result> {
  const { terminal, output, error } = memoryTerminal();
  const context = {
    terminal,
    environment: { TIDEMARK_DRAIN: '5s' },
    folder: '/here',
    input: { [Symbol.asyncIterator]: () => [][Symbol.iterator]() as never },
    signal: new AbortController().signal,
  };
  const code = await runProgram({ args, version: '1.2.3' }, context);
  return { code, output: output.text, error: error.text };
}

const commands = [
  ['run'],
  ['append'],
  ['status'],
  ['rows'],
  ['check'],
  ['failures', 'list'],
  ['config', 'check'],
  ['config', 'print'],
];

describe('the program', () => {
  test('prints its version and its help', async () => {
    expect(await tidemark('--version')).toEqual({ code: 0, output: '1.2.3\n', error: '' });
    const { code, output } = await tidemark('--help');
    expect(code).toBe(0);
    for (const [name = ''] of commands) expect(output).toContain(`\n  ${name}`);
  });

  test.each(commands.map((command) => ({ command })))('explains $command', async ({ command }) => {
    const { code, output } = await tidemark(...command, '--help');
    expect(code).toBe(0);
    expect(output).toContain(`Usage: tidemark ${command.join(' ')}`);
    expect(output).toContain('--config <file>');
  });

  test('without a command prints its help and ends with 2', async () => {
    expect(await tidemark()).toMatchObject({
      code: 2,
      output: '',
      error: expect.stringContaining('Usage: ') as unknown,
    });
    expect(await tidemark('config')).toMatchObject({ code: 2, output: '' });
  });

  test.each([
    [['statsu'], "unknown command 'statsu'", 'Did you mean status?'],
    [['config', 'prnt'], "unknown command 'prnt'", 'Did you mean print?'],
    [['status', '--jsno'], "unknown option '--jsno'", 'Did you mean --json?'],
    [
      ['rows', 'a', '--limit', '0'],
      "option '--limit <rows>' argument '0' is invalid. Expected an integer of at least 1.",
      'tidemark --help',
    ],
    [['status', '--set', 'drain'], '--set takes key=value, not "drain"', '--set defaults.batch.records=1000'],
  ])('does not understand %j', async (args, message, hint) => {
    await expect(tidemark(...args)).rejects.toMatchObject({
      code: 'USAGE',
      message,
      hint: expect.stringContaining(hint) as unknown,
    });
  });

  test('prints the effective config with origins, also for programs', async () => {
    const args = [
      'config',
      'print',
      '--json',
      '--set',
      'embedded.partitions=2',
      '--file',
      'a.db',
      '--log-level',
      'debug',
    ];
    const { code, output } = await tidemark(...args);
    const printed = output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
    expect(code).toBe(0);
    expect(printed).toContainEqual({ key: 'drain', value: '5s', origin: 'TIDEMARK_DRAIN' });
    expect(printed).toContainEqual({ key: 'embedded.partitions', value: '2', origin: '--set' });
    expect(printed).toContainEqual({ key: 'embedded.file', value: '/here/a.db', origin: '--file' });
    expect(printed).toContainEqual({ key: 'logs.level', value: 'debug', origin: '--log-level' });
  });

  test('lists the problems of the config for programs', async () => {
    const { code, output } = await tidemark('config', 'check', '--json', '--set', 'drain=x', '--set', 'a=b');
    expect(code).toBe(3);
    expect(JSON.parse(output)).toEqual({
      problems: [
        expect.stringMatching(/^a: expected a known key/),
        expect.stringMatching(/^drain: expected a duration/),
      ],
    });
  });

  test('prints the schema of the config file', async () => {
    const { output } = await tidemark('config', 'schema');
    expect(JSON.parse(output)).toMatchObject({ type: 'object', properties: { drain: { default: '30s' } } });
  });
});
