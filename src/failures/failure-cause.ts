import { messageOf, TidemarkError } from '../runtime/errors.ts';
import type { FailureCause } from './failure.ts';

const MESSAGE_MAX = 8_192;
const STACK_MAX = 16_384;
const CAUSES_MAX = 8;

/** What was thrown, whatever it is, as the ledger keeps it: bounded, with the chain of causes. */
export function failureCauseOf(thrown: unknown, fallbackCode: string): FailureCause {
  try {
    return describe(thrown, fallbackCode);
  } catch {
    // Even reading the thrown value may throw (a getter of the user's): it is a failure like any other.
    return {
      name: typeof thrown,
      code: fallbackCode,
      message: 'A value that cannot be read was thrown.',
      stack: '',
      causes: [],
    };
  }
}

function describe(thrown: unknown, fallbackCode: string): FailureCause {
  return {
    name: nameOf(thrown),
    code: thrown instanceof TidemarkError ? thrown.code : fallbackCode,
    message: cut(
      thrown instanceof Error ? thrown.message : `No error but this was thrown: ${messageOf(thrown)}`,
      MESSAGE_MAX,
    ),
    stack: thrown instanceof Error ? cut(thrown.stack ?? '', STACK_MAX) : '',
    causes: chainOf(thrown),
  };
}

function chainOf(thrown: unknown): FailureCause['causes'] {
  const causes: { name: string; message: string }[] = [];
  let current = thrown instanceof Error ? thrown.cause : undefined;
  while (current !== undefined && causes.length < CAUSES_MAX) {
    causes.push({ name: nameOf(current), message: cut(messageOf(current), MESSAGE_MAX / CAUSES_MAX) });
    current = current instanceof Error ? current.cause : undefined;
  }
  return causes;
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? cut(thrown.name, 200) : typeof thrown;
}

function cut(text: string, max: number): string {
  return (text.length <= max ? text : `${text.slice(0, max)}…`).toWellFormed();
}
