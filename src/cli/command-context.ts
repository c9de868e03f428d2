import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { CONFIG_VARIABLE, type Environment } from '../config/environment.ts';
import { type Config, type FlagValue, loadConfig } from '../config/load.ts';
import type { Terminal } from './screen/terminal.ts';
import { UsageError } from './usage-error.ts';

/** What a command takes from the process. */
export type CommandContext = {
  readonly terminal: Terminal;
  readonly environment: Environment;
  /** The current folder. */
  readonly folder: string;
  /** Standard input. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Aborts when the process is to stop; an `UncaughtError` as reason makes it end with 1. */
  readonly signal: AbortSignal;
};

export type ConfigOptions = {
  readonly config?: string;
  readonly set?: readonly FlagValue[];
  readonly file?: string;
  readonly app?: string;
  readonly logLevel?: string;
};

/** The package's own, which runs the example; not part of the published package. */
const exampleConfig = fileURLToPath(new URL('../../config/worker.embedded.yaml', import.meta.url));

/** Adds the options by which every command finds its config. */
export function withConfigOptions(command: Command): Command {
  return command
    .option('-c, --config <file>', `the config file (default: ${CONFIG_VARIABLE}, else the example's)`)
    .option('--set <key=value>', 'a setting, over file and variables; may be repeated', collectSetting)
    .option('--app <module>', 'the same as --set app=<module>')
    .option('--file <path>', 'the same as --set embedded.file=<path>')
    .option('--log-level <level>', 'the same as --set logs.level=<level>')
    .option('--verbose', 'show stacks of errors');
}

function collectSetting(text: string, before: readonly FlagValue[] = []): readonly FlagValue[] {
  const equals = text.indexOf('=');
  if (equals < 1) {
    throw new UsageError(`--set takes key=value, not ${JSON.stringify(text)}`, {
      hint: 'For example: --set defaults.batch.records=1000',
    });
  }
  return [...before, { key: text.slice(0, equals), value: text.slice(equals + 1), flag: '--set' }];
}

/** The effective config of a command. Throws `CONFIG_INVALID`, `CONFIG_UNREADABLE`. */
export async function loadCommandConfig(context: CommandContext, options: ConfigOptions): Promise<Config> {
  const { environment, folder } = context;
  const named = options.config ?? (environment[CONFIG_VARIABLE] || undefined);
  return loadConfig({
    file: named ?? (await existing(exampleConfig)),
    environment,
    flags: [
      ...(options.set ?? []),
      ...flag('app', options.app, '--app'),
      ...flag('embedded.file', options.file, '--file'),
      ...flag('logs.level', options.logLevel, '--log-level'),
    ],
    folder,
  });
}

function flag(key: string, value: string | undefined, name: string): readonly FlagValue[] {
  return value === undefined ? [] : [{ key, value, flag: name }];
}

async function existing(path: string): Promise<string | undefined> {
  return access(path).then(
    () => path,
    () => undefined,
  );
}
