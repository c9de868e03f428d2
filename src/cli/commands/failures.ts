import type { ListedEntry } from '../../failures/failure-ledger.ts';
import type { RefKey } from '../../log/ref.ts';
import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { composeLogger, composeRuntime, openForReading } from '../compose.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { formatFailures, toFailureLine } from '../screen/failure-report.ts';

export type FailuresOptions = ConfigOptions & {
  readonly json?: boolean;
  readonly limit: number;
  readonly subscription?: string;
  readonly ref?: string;
};

/** `failures list`: what is parked, without payloads. */
export async function failuresList(context: CommandContext, options: FailuresOptions): Promise<ExitCode> {
  const { terminal } = context;
  const { values } = await loadCommandConfig(context, options);
  await using opened = await openForReading(values, composeRuntime(composeLogger(values, context.terminal)));
  const entries: readonly ListedEntry[] = await opened.stores.ledger.list(
    {
      ...(options.subscription === undefined ? {} : { subscription: options.subscription }),
      // The text of a ref as it was printed; one that names nothing finds nothing.
      ...(options.ref === undefined ? {} : { ref: options.ref as RefKey }),
    },
    options.limit,
  );
  if (options.json === true) {
    for (const entry of entries) await terminal.writeJson(toFailureLine(entry));
  } else {
    await terminal.writeLine(entries.length === 0 ? 'Nothing is parked.' : formatFailures(entries));
    if (entries.length === options.limit) terminal.writeError(`Only the first ${options.limit} are shown: --limit.\n`);
  }
  return exitCodes.done;
}
