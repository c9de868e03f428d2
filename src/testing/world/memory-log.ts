import type { LogSource, PartitionBounds, TopicDescription } from '../../log/log-source.ts';
import { type Position, partitionKey, type TopicPartition } from '../../log/position.ts';
import type { LogRecord } from '../../log/record.ts';
import { assert } from '../../runtime/assert.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Notifier } from '../../runtime/notifier.ts';
import { MemoryLogSession } from './memory-log-session.ts';

/** A partition as the log keeps it. Offsets rise, with holes where `skip` left some out. */
export type MemoryPartition = { low: number; end: number; readonly records: LogRecord[] };

export type MemoryLogOptions = {
  readonly clock: Clock;
  /** `all` (default): a new session owns every partition of its topics. `by hand`: only what it is assigned. */
  readonly assigning?: 'all' | 'by hand';
};

export type NewRecord = Pick<LogRecord, 'key' | 'value'> & Partial<Pick<LogRecord, 'timestamp' | 'headers'>>;

/** A log in memory, with all that can become of one: retention, holes, truncation, another incarnation. */
export class MemoryLog implements LogSource {
  readonly #clock: Clock;
  readonly #assigning: 'all' | 'by hand';
  readonly #topics = new Map<string, MemoryPartition[]>();
  readonly #appended = new Notifier();
  readonly #sessions: MemoryLogSession[] = [];
  #incarnation = 1;

  constructor({ clock, assigning = 'all' }: MemoryLogOptions) {
    this.#clock = clock;
    this.#assigning = assigning;
  }

  /** Sessions that were opened and not stopped, oldest first. */
  get sessions(): readonly MemoryLogSession[] {
    return this.#sessions.filter(({ isStopped }) => !isStopped);
  }

  /** Told whenever a log grows, loses records or becomes another one. */
  get changed(): Notifier {
    return this.#appended;
  }

  /** Makes the topic, or adds partitions to it. */
  createTopic(topic: string, partitions: number): void {
    const own = this.#topics.get(topic) ?? [];
    while (own.length < partitions) own.push({ low: 0, end: 0, records: [] });
    this.#topics.set(topic, own);
  }

  append(partition: TopicPartition, record: NewRecord): Position {
    const stored = this.partition(partition);
    const position = { topic: partition.topic, partition: partition.partition, offset: stored.end };
    const { timestamp = this.#clock.nowMs(), headers = [], ...more } = record;
    stored.records.push({ ...position, timestamp, headers, ...more });
    stored.end += 1;
    this.#appended.notify();
    return position;
  }

  /** Leaves offsets out, as compaction and control records do. */
  skip(partition: TopicPartition, offsets: number): void {
    this.partition(partition).end += offsets;
    this.#appended.notify();
  }

  /** Retention: what lies below `low` is gone. */
  expire(partition: TopicPartition, low: number): void {
    const stored = this.partition(partition);
    stored.low = low;
    while ((stored.records[0]?.offset ?? low) < low) stored.records.shift();
    this.#appended.notify();
  }

  /** What lies at or above `end` is gone. */
  truncate(partition: TopicPartition, end: number): void {
    const stored = this.partition(partition);
    stored.end = end;
    while ((stored.records.at(-1)?.offset ?? -1) >= end) stored.records.pop();
    this.#appended.notify();
  }

  /** From now on this is another log under the same name. */
  recreate(): void {
    this.#incarnation += 1;
  }

  /** All records of a partition that are there. */
  recordsOf(partition: TopicPartition): readonly LogRecord[] {
    return this.partition(partition).records;
  }

  partition({ topic, partition }: TopicPartition): MemoryPartition {
    const stored = this.#topics.get(topic)?.[partition];
    assert(stored !== undefined, 'a partition is made before it is used', { topic, partition });
    return stored;
  }

  partitionsOf(topic: string): readonly PartitionBounds[] {
    const own = this.#topics.get(topic) ?? [];
    return own.map(({ low, end }, partition) => ({ partition, low, end }));
  }

  async describe(topic: string, numbers?: readonly number[]): Promise<TopicDescription> {
    const partitions = this.partitionsOf(topic).filter(({ partition }) => numbers?.includes(partition) ?? true);
    return { topic, identity: `memory:${this.#incarnation}`, partitions };
  }

  async offsetsAt(topic: string, instantMs: number): Promise<ReadonlyMap<number, number>> {
    const own = this.#topics.get(topic) ?? [];
    return new Map(
      own.map(({ records, end }, partition) => {
        return [partition, records.find(({ timestamp }) => timestamp >= instantMs)?.offset ?? end];
      }),
    );
  }

  open(subscription: string, topics: readonly string[]): MemoryLogSession {
    const session = new MemoryLogSession({ log: this, clock: this.#clock, subscription, topics });
    this.#sessions.push(session);
    const partitions = topics.flatMap((topic) =>
      this.partitionsOf(topic).map(({ partition }): TopicPartition => ({ topic, partition })),
    );
    session.assign({ assigned: this.#assigning === 'all' ? partitions : [], lost: [] });
    return session;
  }

  async readAt(position: Position): Promise<LogRecord | undefined> {
    const own = this.#topics.get(position.topic)?.[position.partition];
    return own?.records.find(({ offset }) => offset === position.offset);
  }

  mirror(): void {}

  /** Partitions of all topics, by key. */
  get partitions(): ReadonlyMap<string, TopicPartition> {
    const all = [...this.#topics].flatMap(([topic, own]) => own.map((_, partition) => ({ topic, partition })));
    return new Map(all.map((partition) => [partitionKey(partition), partition]));
  }
}
