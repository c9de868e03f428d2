import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { composeLogger, composeRuntime, openForReading } from '../compose.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { formatPositions, readPositions } from '../screen/position-report.ts';

/** `status`: where every subscription stands, from the store and the log alone. */
export async function status(
  context: CommandContext,
  options: ConfigOptions & { readonly json?: boolean },
): Promise<ExitCode> {
  const { terminal } = context;
  const { values } = await loadCommandConfig(context, options);
  await using opened = await openForReading(values, composeRuntime(composeLogger(values, context.terminal)));
  const lines = await readPositions(opened.stores);
  if (options.json === true) {
    for (const line of lines) await terminal.writeJson(line);
  } else if (lines.length === 0) {
    await terminal.writeLine('No subscription has run on these stores yet.');
  } else {
    await terminal.writeLine(formatPositions(lines));
  }
  return exitCodes.done;
}
