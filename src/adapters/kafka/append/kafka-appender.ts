import type { Producer, RecordMetadata } from 'kafkajs';
import { AppendError } from '../../../log/append/append-error.ts';
import { type AppendOptions, type AppendResult, wholeInputMax } from '../../../log/append/append-options.ts';
import type { Appendable } from '../../../log/append/appendable.ts';
import { lineContent, partitionFor, readLine } from '../../../log/append/read-line.ts';
import type { CommitCodec } from '../../../log/commit-codec.ts';
import { type Position, partitionKey } from '../../../log/position.ts';
import { messageOf, UnavailableError } from '../../../runtime/errors.ts';
import { LATE, within } from '../../../runtime/within.ts';
import type { ClusterView } from '../cluster/cluster-view.ts';
import type { ConnectionSettings } from '../cluster/connection-settings.ts';
import { type KafkaDriver, kafkaDriver } from '../driver/kafka-driver.ts';
import { TopicMissingError, toLogError } from '../kafka-error.ts';
import { toMessage } from './record-message.ts';

/** What is sent at once stays below what brokers take as one batch; a larger record is sent alone. */
const pieceRecords = 1_000;
const pieceUnits = 256 * 1024;
/** A send that was not acknowledged by then has an unknown outcome. */
const SEND_MAX_MS = 60_000;
const RETRIES = 8;
const UNKNOWN_PARTITION_PAUSE_MS = 50;

type AppenderParts = {
  readonly view: ClusterView;
  readonly connection: ConnectionSettings;
  readonly codec: CommitCodec;
  /** Makes a topic that is missing; `undefined`: it is an error. */
  readonly makeTopic: ((topic: string) => Promise<void>) | undefined;
};

/** A record on its way to its partition. */
type Placed = Appendable & { readonly partition: number };

/**
 * Appends to Kafka: keys decide partitions as in every producer of Kafka, repeats of the producer itself are recognised by
 * the brokers. What was in the log before is not looked at: a second append of the same lines stores them twice.
 */
export class KafkaAppender {
  readonly #parts: AppenderParts;
  #driver: KafkaDriver | undefined;
  #producer: Promise<Producer> | undefined;

  constructor(parts: AppenderParts) {
    this.#parts = parts;
  }

  /** See `KafkaLog.append`. */
  async append(
    lines: AsyncIterable<string> | Iterable<string>,
    { asIs: isAsIs = false, topicOf = () => undefined, onProgress, signal }: AppendOptions = {},
  ): Promise<AppendResult> {
    const { codec, connection } = this.#parts;
    const nowMs = (): number => connection.runtime.clock.nowMs();
    let result: AppendResult = { lines: 0, appended: 0, repeated: 0, last: undefined };
    let pending: Appendable[] = [];
    let units = 0;
    let line = 0;
    const flush = async (): Promise<void> => {
      result = { ...(await this.#sendAll(pending, result)), lines: line };
      pending = [];
      units = 0;
      onProgress?.(result);
    };
    for await (const text of lines) {
      if (signal?.aborted === true) return result;
      const isChecked = result.lines === 0;
      const isFull = isChecked ? line >= wholeInputMax.lines : pending.length >= pieceRecords;
      if (isFull || units > wholeInputMax.units) await flush();
      line += 1;
      const content = lineContent(text, line);
      if (content === undefined) continue;
      units += content.length;
      const options = { line, lastStoredLine: result.lines, isAsIs, codec, topicOf, nowMs };
      const appendable = readLine(content, options);
      checkHeaders(appendable, result.lines);
      pending.push(appendable);
    }
    if (signal?.aborted !== true) await flush();
    return result;
  }

  async close(): Promise<void> {
    const producer = await this.#producer?.catch(() => undefined);
    await producer?.disconnect().catch(() => undefined);
    this.#driver?.release();
  }

  async #sendAll(pending: readonly Appendable[], before: AppendResult): Promise<AppendResult> {
    const partitions = await this.#partitionCounts(pending);
    let result = before;
    for (const piece of pieces(pending)) {
      const placed = piece.map((appendable): Placed => {
        const count = partitions.get(appendable.record.topic) ?? 1;
        return { ...appendable, partition: partitionFor(appendable.record, count) };
      });
      const last = await this.#send(placed, result.lines);
      result = {
        lines: piece.at(-1)?.line ?? result.lines,
        appended: result.appended + piece.length,
        repeated: 0,
        last: last ?? result.last,
      };
    }
    return result;
  }

  /** A topic that is missing is made where that was asked for, else told before anything is sent. */
  async #partitionCounts(pending: readonly Appendable[]): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const topic of new Set(pending.map(({ record }) => record.topic))) {
      const found = await this.#topic(topic);
      if (found.kind === 'missing') {
        throw new TopicMissingError(`The topic ${topic} does not exist.`, {
          details: { topic },
          hint: 'Make it with as many partitions as it will need (append --create-topics 12): later growth moves aggregates.',
        });
      }
      counts.set(topic, found.leaders.size);
    }
    return counts;
  }

  async #topic(topic: string): ReturnType<ClusterView['freshTopic']> {
    const { view, connection, makeTopic } = this.#parts;
    let found = await view.freshTopic(topic);
    if (found.kind === 'there' || makeTopic === undefined) return found;
    await makeTopic(topic);
    // Not every broker hears of it at once.
    for (let attempt = 1; found.kind === 'missing' && attempt <= RETRIES; attempt += 1) {
      await connection.runtime.clock.sleep(attempt * UNKNOWN_PARTITION_PAUSE_MS);
      found = await view.freshTopic(topic);
    }
    return found;
  }

  /** Sends a piece; the position of its last record. */
  async #send(piece: readonly Placed[], lastStoredLine: number): Promise<Position | undefined> {
    if (piece.length === 0) return undefined;
    try {
      return lastPosition(piece, await this.#sendWhole(piece));
    } catch (error) {
      if (!isTooLarge(error)) throw unknownOutcome(error, lastStoredLine);
      if (piece.length === 1) throw tooLarge(piece[0]?.line ?? 0, lastStoredLine);
    }
    // Some topic takes less than others: one by one, what fits is stored.
    let last: Position | undefined;
    let stored = lastStoredLine;
    for (const placed of piece) {
      last = await this.#send([placed], stored);
      stored = placed.line;
    }
    return last;
  }

  /**
   * kafkajs leaves out, without a word, what goes to partitions that it has not heard of yet. What was not acknowledged is
   * sent by a producer that knows them.
   */
  async #sendWhole(piece: readonly Placed[]): Promise<readonly RecordMetadata[]> {
    const acknowledged: RecordMetadata[] = [];
    let open = piece;
    for (let attempt = 1; attempt <= RETRIES; attempt += 1) {
      acknowledged.push(...(await this.#acknowledged(open)));
      const keys = new Set(
        acknowledged.map(({ topicName, partition }) => partitionKey({ topic: topicName, partition })),
      );
      open = open.filter(({ record, partition }) => !keys.has(partitionKey({ topic: record.topic, partition })));
      if (open.length === 0) return acknowledged;
      await this.#discard();
      await this.#parts.connection.runtime.clock.sleep(attempt * UNKNOWN_PARTITION_PAUSE_MS);
    }
    throw new UnavailableError('Some partitions are not known to all brokers yet.');
  }

  async #acknowledged(piece: readonly Placed[]): Promise<readonly RecordMetadata[]> {
    const byTopic = Map.groupBy(piece, ({ record }) => record.topic);
    const topicMessages = [...byTopic].map(([topic, placed]) => ({ topic, messages: placed.map(toMessage) }));
    this.#producer ??= this.#connect();
    const sent = this.#producer.then((producer) => producer.sendBatch({ acks: -1, topicMessages }));
    try {
      const metadata = await within(SEND_MAX_MS, sent, this.#parts.connection.runtime.clock);
      if (metadata === LATE) throw new UnavailableError(`No acknowledgement came within ${SEND_MAX_MS} ms.`);
      return metadata;
    } catch (error) {
      // A producer that failed has lost count; the next append begins with another one.
      if (!isTooLarge(error)) await this.#discard();
      throw error;
    }
  }

  async #connect(): Promise<Producer> {
    this.#driver = kafkaDriver(this.#parts.connection, RETRIES);
    const producer = this.#driver.kafka.producer({
      idempotent: true,
      allowAutoTopicCreation: false,
      // Where a record goes is settled here.
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    });
    await producer.connect();
    return producer;
  }

  async #discard(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    this.#driver?.release();
    const connected = await producer?.catch(() => undefined);
    await connected?.disconnect().catch(() => undefined);
  }
}

/** kafkajs cannot write a header whose value is null. */
function checkHeaders({ line, record }: Appendable, lastStoredLine: number): void {
  const empty = record.headers.find(([, text]) => text === undefined);
  if (empty === undefined) return;
  throw new AppendError(`the header ${empty[0]} has no value, which cannot be written to Kafka`, {
    code: 'BAD_RECORD',
    line,
    lastStoredLine,
    hint: 'Leave the header out, or give it an empty text.',
  });
}

function* pieces(pending: readonly Appendable[]): Generator<readonly Appendable[]> {
  let piece: Appendable[] = [];
  let units = 0;
  for (const appendable of pending) {
    const size = appendable.record.value?.length ?? 0;
    if (piece.length >= pieceRecords || (piece.length > 0 && units + size > pieceUnits)) {
      yield piece;
      piece = [];
      units = 0;
    }
    piece.push(appendable);
    units += size;
  }
  if (piece.length > 0) yield piece;
}

/** kafkajs sends one batch per partition, and tells where it begins. */
function lastPosition(piece: readonly Placed[], metadata: readonly RecordMetadata[]): Position | undefined {
  const last = piece.at(-1);
  if (last === undefined) return undefined;
  const at = { topic: last.record.topic, partition: last.partition };
  const told = metadata.find(({ topicName, partition }) => topicName === at.topic && partition === at.partition);
  const key = partitionKey(at);
  const before = piece.filter(({ record, partition }) => partitionKey({ topic: record.topic, partition }) === key);
  return told?.baseOffset === undefined ? undefined : { ...at, offset: Number(told.baseOffset) + before.length - 1 };
}

function isTooLarge(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if ('type' in at && (at.type === 'MESSAGE_TOO_LARGE' || at.type === 'RECORD_LIST_TOO_LARGE')) return true;
  }
  return false;
}

function tooLarge(line: number, lastStoredLine: number): AppendError {
  return new AppendError('the record is larger than its topic takes', {
    code: 'BAD_RECORD',
    line,
    lastStoredLine,
    hint: "Raise the topic's max.message.bytes, or make the record smaller.",
  });
}

function unknownOutcome(error: unknown, lastStoredLine: number): Error {
  // Defects are no outages.
  if (error instanceof TypeError || error instanceof ReferenceError) return error;
  const problem = toLogError(error, 'appending');
  if (!(problem instanceof UnavailableError)) return problem;
  return new UnavailableError(
    `Appending failed: everything up to line ${lastStoredLine} is stored, and what follows may be: ${messageOf(error)}.`,
    {
      details: { lastStoredLine },
      hint: 'Append from the next line on; what is stored twice is handled once.',
      cause: error,
    },
  );
}
