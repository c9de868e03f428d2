import { inspect } from 'node:util';
import { messageOf, TidemarkError } from '../../runtime/errors.ts';
import type { Terminal } from './terminal.ts';

/** What is shown for errors that are not ours. */
const unexpected = { code: 'UNEXPECTED', hint: 'This should not happen; --verbose shows where it came from.' } as const;

/** Writes `error CODE: message` and `hint: …`; the stack only if `isVerbose`. */
export function reportError(terminal: Terminal, error: unknown, isVerbose: boolean): void {
  const { code, hint } = error instanceof TidemarkError ? error : unexpected;
  terminal.writeError(`error ${code}: ${messageOf(error)}\n`);
  if (hint !== undefined) terminal.writeError(`hint: ${hint}\n`);
  if (isVerbose) terminal.writeError(`${inspect(error)}\n`);
}
