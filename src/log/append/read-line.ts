import { murmur2, partitionOf } from '../murmur2.ts';
import type { RecordText } from '../record.ts';
import { AppendError } from './append-error.ts';
import { type Appendable, type SettleOptions, settle, settleCommit } from './appendable.ts';
import { parseLine } from './line-record.ts';

export type ReadLineOptions = SettleOptions & {
  /** For the error: everything up to here is stored. */
  readonly lastStoredLine: number;
};

/** The text without a byte order mark and a carriage return; `undefined` for blank lines. */
export function lineContent(text: string, line: number): string | undefined {
  let content = text;
  if (line === 1 && content.startsWith('\uFEFF')) content = content.slice(1);
  if (content.endsWith('\r')) content = content.slice(0, -1);
  return content.trim() === '' ? undefined : content;
}

/** What a line that is not blank appends. Throws `AppendError` (`BAD_RECORD`). */
export function readLine(content: string, options: ReadLineOptions): Appendable {
  const commit = settleCommit(content, options);
  if (commit !== undefined) return commit;
  const parsed = parseLine(content);
  const settled = parsed.kind === 'bad' ? parsed : settle(parsed.record, options);
  if (settled.kind === 'appendable') return settled.appendable;
  throw new AppendError(settled.reason, {
    code: 'BAD_RECORD',
    line: options.line,
    lastStoredLine: options.lastStoredLine,
    hint: options.isAsIs
      ? 'Each line is a commit record, or an envelope {"topic": …, "key": …, "value": "…"}.'
      : 'Each line is a commit record or an envelope around one. Records that are no commits need --as-is.',
  });
}

/** The wish, where the topic has such a partition, else as Kafka's producers do; without a key the first. */
export function partitionFor(
  { partition, key }: { readonly partition: number | undefined; readonly key: RecordText },
  partitions: number,
): number {
  if (partition !== undefined && partition < partitions) return partition;
  if (key === undefined) return 0;
  return typeof key === 'string' ? partitionOf(key, partitions) : (murmur2(key) & 0x7fffffff) % partitions;
}
