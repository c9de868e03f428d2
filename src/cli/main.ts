import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { exitCodeOf } from './exit-code.ts';
import { keepHeapLean } from './lean-heap.ts';
import { runProgram } from './program.ts';
import { reportError } from './screen/report-error.ts';
import { Terminal } from './screen/terminal.ts';
import { UncaughtError } from './uncaught-error.ts';

keepHeapLean();

/** What signals end a process with that does not handle them. */
const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof signalExitCodes;

/**
 * A terminal sends an interrupt to everybody in front of it, and npm or the launcher pass theirs on: what comes so soon
 * after the first is the same one.
 */
const SAME_SIGNAL_MS = 250;

const args = process.argv.slice(2);
const isVerbose = args.includes('--verbose');
const terminal = new Terminal({
  output: process.stdout,
  error: process.stderr,
  // no-color.org
  isColorRefused: (process.env['NO_COLOR'] ?? '') !== '',
});
const stopping = new AbortController();
let uncaught: UncaughtError | undefined;

let firstSignalAtMs: number | undefined;
for (const [signal, code] of Object.entries(signalExitCodes) as readonly [StopSignal, number][]) {
  process.on(signal, () => {
    firstSignalAtMs ??= performance.now();
    if (!stopping.signal.aborted) stopping.abort(signal);
    else if (performance.now() - firstSignalAtMs > SAME_SIGNAL_MS) process.exit(code);
  });
}

function stopOnUncaught(thrown: unknown): void {
  if (uncaught !== undefined) return;
  uncaught = new UncaughtError(thrown);
  if (stopping.signal.aborted) reportError(terminal, uncaught, isVerbose);
  else stopping.abort(uncaught);
}
process.on('unhandledRejection', stopOnUncaught);
process.on('uncaughtException', stopOnUncaught);

async function* standardInput(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* addAbortSignal(signal, process.stdin);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function main(): Promise<number> {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const context = {
    terminal,
    environment: process.env,
    folder: process.cwd(),
    // Touched on first use: a command that reads no input must not wait for it.
    input: { [Symbol.asyncIterator]: () => standardInput(stopping.signal) },
    signal: stopping.signal,
  };
  try {
    const code = await runProgram({ args, version: manifest.version }, context);
    return uncaught === undefined ? code : exitCodeOf(uncaught);
  } catch (error) {
    reportError(terminal, error, isVerbose);
    return exitCodeOf(error);
  }
}

const code = await main();
await terminal.flushed();
// The app may have left timers and sockets open.
process.exit(code);
