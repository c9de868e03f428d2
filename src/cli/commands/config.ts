import { ConfigError, formatProblem } from '../../config/config-error.ts';
import { appOf, checkSubscriptionNames } from '../../config/load.ts';
import { configJsonSchema, printConfig } from '../../config/print.ts';
import { loadApp } from '../app-module.ts';
import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { formatTable } from '../screen/table.ts';
import { toJson } from '../screen/terminal.ts';

export type ConfigCommandOptions = ConfigOptions & { readonly json?: boolean };

/** `config check`: all problems of the config, the app's path and the names of its subscriptions included. */
export async function configCheck(context: CommandContext, options: ConfigCommandOptions): Promise<ExitCode> {
  const { terminal } = context;
  try {
    const config = await loadCommandConfig(context, options);
    const { subscriptions } = await loadApp(appOf(config));
    checkSubscriptionNames(
      config,
      subscriptions.map(({ name }) => name),
    );
    if (options.json === true) await terminal.writeJson({ problems: [] });
    else await terminal.writeLine(`The config ${config.file ?? 'without a file'} is valid.`);
    return exitCodes.done;
  } catch (error) {
    if (options.json !== true || !(error instanceof ConfigError)) throw error;
    await terminal.writeJson({ problems: error.problems.map(formatProblem) });
    return exitCodes.config;
  }
}

/** `config print`: every effective value and where it came from. */
export async function configPrint(context: CommandContext, options: ConfigCommandOptions): Promise<ExitCode> {
  const { terminal } = context;
  const values = printConfig(await loadCommandConfig(context, options));
  if (options.json === true) {
    for (const value of values) await terminal.writeJson(value);
  } else {
    await terminal.writeLine(
      formatTable(
        ['key', 'value', 'from'],
        values.map(({ key, value, origin }) => [key, value, origin]),
      ),
    );
  }
  return exitCodes.done;
}

/** `config schema`: a JSON Schema of the file, for editors. */
export async function configSchema({ terminal }: CommandContext): Promise<ExitCode> {
  await terminal.writeLine(toJson(configJsonSchema(), 2));
  return exitCodes.done;
}
