import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../runtime/errors.ts';
import { type CommandContext, type ConfigOptions, loadCommandConfig } from '../command-context.ts';
import { type Appendable, composeLogger, composeRuntime, openForAppending } from '../compose.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { linesOf } from '../input-lines.ts';
import { openProgress } from '../screen/progress.ts';
import { UsageError } from '../usage-error.ts';

export type AppendCommandOptions = ConfigOptions & {
  readonly asIs?: boolean;
  readonly json?: boolean;
  /** Partitions. */
  readonly createTopics?: number;
};

/** Bytes of commit records; without a size where the input tells none. */
type Input = { readonly bytes: AsyncIterable<Uint8Array>; readonly size: number | undefined };

const CHUNK_BYTES = 1024 * 1024;

/** `append`: stores commit records in the log. Names the line of a bad one, and the last line that is stored. */
export async function append(context: CommandContext, input: string, options: AppendCommandOptions): Promise<ExitCode> {
  const { terminal, signal } = context;
  const { values } = await loadCommandConfig(context, options);
  const source = await openInput(context, input);
  const runtime = composeRuntime(composeLogger(values, terminal));
  const { clock } = runtime;
  await using log = await openForAppending(values, { runtime, newTopicPartitions: options.createTopics });
  const progress = openProgress({ terminal, clock, verb: 'Appending', unit: 'lines' });
  let bytesRead = 0;
  let linesRead = 0;
  const counted = async function* (): AsyncGenerator<string> {
    for await (const line of linesOf(source.bytes, (bytes) => (bytesRead += bytes))) {
      linesRead += 1;
      if (linesRead % 1_000 === 0) progress.update(linesRead, expectedLines(source.size, { bytesRead, linesRead }));
      yield line;
    }
  };
  let result: Awaited<ReturnType<Appendable['append']>>;
  try {
    result = await log.append(counted(), { asIs: options.asIs === true, signal });
  } finally {
    progress.stop();
  }
  const { lines, appended, repeated } = result;
  if (options.json === true) await terminal.writeJson({ lines, appended, repeated, isComplete: !signal.aborted });
  else await terminal.writeLine(`Appended ${appended} commits; ${repeated} were in the log already.`);
  if (!signal.aborted) return exitCodes.done;
  terminal.writeError(`Interrupted: everything up to line ${lines} is stored.\n`);
  return exitCodes.found;
}

/** How many lines there will be, by what was read so far. */
function expectedLines(
  size: number | undefined,
  { bytesRead, linesRead }: { readonly bytesRead: number; readonly linesRead: number },
): number | undefined {
  return size === undefined || bytesRead === 0
    ? undefined
    : Math.max(linesRead, Math.round((linesRead * size) / bytesRead));
}

async function openInput({ input, folder, signal }: CommandContext, name: string): Promise<Input> {
  if (name === '-') return { bytes: input, size: undefined };
  const path = resolve(folder, name);
  try {
    const found = await stat(path);
    if (found.isDirectory())
      throw new UsageError(`${path} is a folder`, { hint: 'Name a file, or - for standard input.' });
    // A named pipe has no size.
    const size = found.isFile() ? found.size : undefined;
    return { bytes: untilAborted(createReadStream(path, { highWaterMark: CHUNK_BYTES }), signal), size };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The input ${path} cannot be read: ${messageOf(error)}`, {
      hint: 'Name a file with one commit record a line, or - for standard input.',
      cause: error,
    });
  }
}

async function* untilAborted(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    if (signal.aborted) return;
    yield chunk;
  }
}
