import type { LogSession, LogSource, TopicDescription } from '../../../log/log-source.ts';
import type { Position } from '../../../log/position.ts';
import type { LogRecord } from '../../../log/record.ts';
import type { ChangeWatch } from '../database/change-watch.ts';
import { EmbeddedLogSession } from './embedded-log-session.ts';
import type { LogTables } from './log-tables.ts';
import type { ReadAhead } from './read-ahead.ts';

export type EmbeddedLogParts = {
  readonly tables: LogTables;
  readonly changes: ChangeWatch;
  readonly readAhead: ReadAhead;
  /** Which file this is, whatever its path. */
  readonly incarnation: string;
};

/**
 * The log in the embedded file. Every session owns all partitions of its topics: the file has one follower at a time.
 * Nothing is ever taken from the log, so its low is 0.
 */
export class EmbeddedLogSource implements LogSource {
  readonly #tables: LogTables;
  readonly #changes: ChangeWatch;
  readonly #readAhead: ReadAhead;
  readonly #identity: string;

  constructor({ tables, changes, readAhead, incarnation }: EmbeddedLogParts) {
    this.#tables = tables;
    this.#changes = changes;
    this.#readAhead = readAhead;
    this.#identity = `embedded:${incarnation}`;
  }

  async describe(topic: string, numbers?: readonly number[]): Promise<TopicDescription> {
    const partitions = this.#tables.boundsOf(topic).filter(({ partition }) => numbers?.includes(partition) ?? true);
    return { topic, identity: this.#identity, partitions };
  }

  async offsetsAt(topic: string, instantMs: number): Promise<ReadonlyMap<number, number>> {
    const streams = this.#tables.streamsOf(topic);
    return new Map(streams.map((stream) => [stream.partition, this.#tables.offsetAt(stream, instantMs)]));
  }

  open(subscription: string, topics: readonly string[]): LogSession {
    return new EmbeddedLogSession({
      tables: this.#tables,
      changes: this.#changes,
      readAhead: this.#readAhead,
      subscription,
      topics,
    });
  }

  async readAt(position: Position): Promise<LogRecord | undefined> {
    return this.#tables.recordAt(position);
  }

  /** Nothing to tell: whoever asks for lag reads the checkpoints in the same file. */
  mirror(): void {}
}
