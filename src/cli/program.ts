import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { type CommandContext, type ConfigOptions, withConfigOptions } from './command-context.ts';
import { type AppendCommandOptions, append } from './commands/append.ts';
import { check } from './commands/check.ts';
import { configCheck, configPrint, configSchema } from './commands/config.ts';
import { type FailuresOptions, failuresList } from './commands/failures.ts';
import { type RowsOptions, rows } from './commands/rows.ts';
import { type RunOptions, run } from './commands/run.ts';
import { status } from './commands/status.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';
import { UsageError } from './usage-error.ts';

export type Invocation = { readonly args: readonly string[]; readonly version: string };

type Json = { readonly json?: boolean };

/** Keeps what a command answered. Commander itself gives nothing back. */
type Answer = (code: Promise<ExitCode>) => Promise<void>;

/** Runs one command line. Throws `USAGE` for what it does not understand, and what the command throws. */
export async function runProgram({ args, version }: Invocation, context: CommandContext): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  const program = buildProgram(version, context, async (answer) => {
    code = await answer;
  });
  if (args.length === 0) {
    context.terminal.writeError(program.helpInformation());
    return exitCodes.usage;
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version were printed; a group without its command prints its help as well.
    if (error.exitCode === 0) return exitCodes.done;
    if (error.code === 'commander.help') return exitCodes.usage;
    throw usageErrorOf(error);
  }
}

/** `error: unknown option '--jsn'\n(Did you mean --json?)` */
function usageErrorOf({ message }: CommanderError): UsageError {
  const [said = '', suggestion] = message.replace(/^error: /, '').split('\n');
  return new UsageError(said, {
    hint:
      suggestion === undefined ? 'tidemark --help lists commands and options.' : suggestion.replace(/^\((.*)\)$/, '$1'),
  });
}

function buildProgram(version: string, context: CommandContext, answer: Answer): Command {
  const program = new Command('tidemark')
    .description('Follows a log of commits and keeps version-guarded read models.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.terminal.write(text),
      writeErr: (text) => context.terminal.writeError(text),
      // Errors are thrown, and reported once.
      outputError: () => undefined,
    })
    .showSuggestionAfterError()
    .addHelpText('after', EXIT_CODES);
  addRun(program, context, answer);
  addAppend(program, context, answer);
  addReading(program, context, answer);
  addFailures(program, context, answer);
  addConfig(program, context, answer);
  return program;
}

const EXIT_CODES = `
Exit codes: 0 done, 1 found something, 2 usage, 3 config, 4 cannot reach, 5 refused`;

function addRun(program: Command, context: CommandContext, answer: Answer): void {
  withConfigOptions(program.command('run'))
    .description('run the worker of the app')
    .option('--until-caught-up', 'end when everything that the log holds now is handled')
    .option('--json', 'with --until-caught-up: the result as JSON')
    .action((options: RunOptions) => answer(run(context, options)))
    .addHelpText(
      'after',
      `
Examples:
  tidemark run --config worker.yaml
  tidemark run --until-caught-up --set subscriptions.OrderSummaryProjection.onEvent.batch.records=1000`,
    );
}

function addAppend(program: Command, context: CommandContext, answer: Answer): void {
  withConfigOptions(program.command('append'))
    .description('append commits to the log')
    .argument('<input>', 'a file of commit records, one JSON object a line; - for standard input')
    .option('--as-is', 'mirror a foreign log: versions may be missing and may repeat')
    .option('--create-topics <partitions>', 'make topics that are missing, with so many partitions', parseCount)
    .option('--json', 'the result as JSON')
    .action((input: string, options: AppendCommandOptions) => answer(append(context, input, options)))
    .addHelpText(
      'after',
      `
A line is a commit record, or an envelope {topic, key, headers, timestamp, value}. Without a topic, a record with a state
goes to the state topic of its aggregate (wow.<context>.<aggregate>.state), one without to its event topic.

Examples:
  tidemark append commits.jsonl
  zcat export.jsonl.gz | tidemark append --as-is -
  tidemark append commits.jsonl --config worker.kafka.yaml --create-topics 12`,
    );
}

function addReading(program: Command, context: CommandContext, answer: Answer): void {
  withConfigOptions(program.command('status'))
    .description('show where every subscription stands')
    .option('--json', 'one JSON object a line: a partition of a subscription')
    .action((options: ConfigOptions & Json) => answer(status(context, options)));
  withConfigOptions(program.command('rows'))
    .description('print a read model, or one row of it')
    .argument('<model>', 'name of the read model')
    .argument('[id...]', 'id of a row: as it is printed, or its parts')
    .option('--json', 'one JSON object a line: a row, its id as _id')
    .option('--limit <rows>', 'at most so many rows (default: all with --json, else 100)', parseCount)
    .action((model: string, id: readonly string[], options: RowsOptions) =>
      answer(rows(context, { model, id }, options)),
    )
    .addHelpText(
      'after',
      `
Examples:
  tidemark rows order_summary --json | head
  tidemark rows order_summary '(0)' O-1001`,
    );
  withConfigOptions(program.command('check'))
    .description('check config, app, stores, topics and positions; nothing is started')
    .option('--json', 'one JSON object a line: a finding')
    .action((options: ConfigOptions & Json) => answer(check(context, options)));
}

function addFailures(program: Command, context: CommandContext, answer: Answer): void {
  const failures = program.command('failures').description('commits that are parked');
  withConfigOptions(failures.command('list'))
    .description('list parked commits, without their payloads')
    .option('--subscription <name>', 'of one subscription')
    .option('--ref <ref>', 'of one aggregate, as it is printed')
    .option('--limit <entries>', 'at most so many', parseCount, 100)
    .option('--json', 'one JSON object a line: an entry')
    .action((options: FailuresOptions) => answer(failuresList(context, options)))
    .addHelpText('after', '\nExample:\n  tidemark failures list --subscription OrderSummaryProjection.onEvent --json');
}

function addConfig(program: Command, context: CommandContext, answer: Answer): void {
  const config = program.command('config').description('the configuration');
  withConfigOptions(config.command('check'))
    .description('list everything that is wrong with it')
    .option('--json', 'the problems as JSON')
    .action((options: ConfigOptions & Json) => answer(configCheck(context, options)));
  withConfigOptions(config.command('print'))
    .description('print the effective values and where each came from')
    .option('--json', 'one JSON object a line: a value')
    .action((options: ConfigOptions & Json) => answer(configPrint(context, options)));
  config
    .command('schema')
    .description('print a JSON Schema of the file, for editors')
    .action(() => answer(configSchema(context)));
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new InvalidArgumentError('Expected an integer of at least 1.');
  }
  return count;
}
