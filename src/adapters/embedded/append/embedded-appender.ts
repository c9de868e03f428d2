import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppendError } from '../../../log/append/append-error.ts';
import { type AppendOptions, type AppendResult, wholeInputMax } from '../../../log/append/append-options.ts';
import { type Appendable, type CommitIdentity, identityOf } from '../../../log/append/appendable.ts';
import { lineContent, partitionFor, readLine } from '../../../log/append/read-line.ts';
import type { CommitCodec } from '../../../log/commit-codec.ts';
import type { Position } from '../../../log/position.ts';
import type { LogRecord } from '../../../log/record.ts';
import { assert } from '../../../runtime/assert.ts';
import type { Database } from '../database/database.ts';
import type { LogTables } from '../log/log-tables.ts';
import { LogWriter } from '../log/log-writer.ts';
import { CommitVersions, type Verdict } from './commit-versions.ts';

/** Inputs that are not stored whole are stored in pieces of this size, so that others get their turn. */
const pieceLines = 5_000;

/** A record of another log. Without a partition the topic has, the key decides. */
export type ForeignRecord = Omit<LogRecord, 'offset' | 'partition'> & { readonly partition?: number };

type AppenderParts = {
  readonly database: Database;
  readonly tables: LogTables;
  readonly codec: CommitCodec;
  readonly partitions: number;
  readonly nowMs: () => number;
};

type Stored = {
  readonly repeated: number;
  readonly positions: readonly Position[];
  readonly changed: ReadonlySet<string>;
};
type Mode = { readonly isAsIs: boolean };
type Pending = Mode & {
  readonly pending: readonly Appendable[];
  /** The last line that was read. */
  readonly line: number;
  readonly isWhole: boolean;
};

/** Appends to the embedded log. Several processes may do so at once. */
export class EmbeddedAppender {
  readonly #parts: AppenderParts;
  readonly #versions: CommitVersions;

  constructor(parts: AppenderParts) {
    this.#parts = parts;
    this.#versions = new CommitVersions(parts);
  }

  /** See `EmbeddedFile.append`. */
  async append(
    lines: AsyncIterable<string> | Iterable<string>,
    { asIs: isAsIs = false, topicOf = () => undefined, onProgress, signal }: AppendOptions = {},
  ): Promise<AppendResult> {
    const mode = { isAsIs };
    let result: AppendResult = { lines: 0, appended: 0, repeated: 0, last: undefined };
    let pending: Appendable[] = [];
    let pendingUnits = 0;
    let line = 0;
    const flush = async (isWhole: boolean): Promise<void> => {
      result = await this.#flush(result, { pending, line, isWhole, ...mode });
      pending = [];
      pendingUnits = 0;
      onProgress?.(result);
    };
    for await (const text of lines) {
      if (signal?.aborted === true) return result;
      const isLong = result.lines > 0;
      const isFull = isLong ? pending.length >= pieceLines : line - result.lines >= wholeInputMax.lines;
      if (isFull || pendingUnits > wholeInputMax.units) await flush(false);
      line += 1;
      const content = lineContent(text, line);
      if (content === undefined) continue;
      pendingUnits += content.length;
      const { codec, nowMs } = this.#parts;
      pending.push(readLine(content, { line, lastStoredLine: result.lines, topicOf, codec, nowMs, ...mode }));
    }
    if (signal?.aborted !== true) await flush(result.lines === 0);
    return result;
  }

  /** Stores records of another log as they are, all or none, and gives their positions. */
  async appendRecords(records: Iterable<ForeignRecord>): Promise<readonly Position[]> {
    const appendables = Array.from(records, ({ partition, ...record }, index): Appendable => {
      const decoded = this.#parts.codec.decode({ ...record, partition: 0, offset: 0 });
      const commit = decoded.kind === 'commit' ? identityOf(decoded.commit) : undefined;
      return { line: index + 1, record: { ...record, partition }, commit };
    });
    const { positions, changed } = await this.#store(appendables, { isAsIs: true });
    this.#parts.database.changes.changed(changed);
    return positions;
  }

  /** Stores what is pending: at once if it is the whole input, else in pieces. */
  async #flush(before: AppendResult, { pending, line, isWhole, isAsIs }: Pending): Promise<AppendResult> {
    let result = before;
    const size = isWhole ? Math.max(1, pending.length) : pieceLines;
    for (let from = 0; from < pending.length; from += size) {
      const piece = pending.slice(from, from + size);
      const { repeated, positions, changed } = await this.#storeAfter(result.lines, piece, { isAsIs });
      result = {
        lines: piece.at(-1)?.line ?? result.lines,
        appended: result.appended + piece.length - repeated,
        repeated: result.repeated + repeated,
        last: positions.at(-1) ?? result.last,
      };
      this.#parts.database.changes.changed(changed);
      await nextTurn();
    }
    return { ...result, lines: line };
  }

  async #storeAfter(lastStoredLine: number, piece: readonly Appendable[], mode: Mode): Promise<Stored> {
    try {
      return await this.#store(piece, mode);
    } catch (error) {
      throw error instanceof AppendError ? error.after(lastStoredLine) : error;
    }
  }

  async #store(piece: readonly Appendable[], mode: Mode): Promise<Stored> {
    try {
      return await this.#parts.database.write(() => this.#write(piece, mode));
    } catch (error) {
      this.#versions.forget();
      throw error;
    }
  }

  #write(piece: readonly Appendable[], { isAsIs }: Mode): Stored {
    const writer = new LogWriter(this.#parts.database, this.#parts.partitions);
    this.#versions.begin();
    const positions: Position[] = [];
    let repeated = 0;
    for (const { line, record, commit } of piece) {
      const topic = writer.topic(record.topic);
      const partition = partitionFor(record, topic.partitions);
      const verdict = isAsIs ? takenAsIs : this.#judge(topic.id, commit, line);
      if (verdict.kind === 'repeated') {
        repeated += 1;
        positions.push(writer.positionOf(record.topic, verdict.record));
        continue;
      }
      const { id, position } = writer.append(record, partition);
      if (commit !== undefined) this.#versions.note(topic.id, commit, id);
      positions.push(position);
    }
    return { repeated, positions, changed: writer.finish() };
  }

  #judge(topic: number, commit: CommitIdentity | undefined, line: number): Verdict {
    assert(commit !== undefined, 'what is appended in order is a commit', { line });
    return this.#versions.judge(topic, commit, line);
  }
}

const takenAsIs: Verdict = { kind: 'next' };
