import { READ_COMMITTED } from './list-offsets-request.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireApi, WireRequest } from './wire-request.ts';

/** A transaction that was aborted: its records from `firstOffset` on do not count. */
export type AbortedTransaction = { readonly producerId: number; readonly firstOffset: number };

export type FetchQuestion = {
  readonly topicId: string;
  readonly partition: number;
  readonly offset: number;
  /** A record batch that is larger comes whole, if it is the first of the answer. */
  readonly bytesMax: number;
};

export type FetchAnswer = {
  readonly topicId: string;
  readonly partition: number;
  readonly errorCode: number;
  /** The first offset that is there; -1 beside an error. */
  readonly low: number;
  /** After the last record that may be read; -1 beside an error. */
  readonly end: number;
  readonly aborted: readonly AbortedTransaction[];
  readonly records: Buffer;
};

/** The first version that asks by topic id: of a topic that was made anew nothing is served. */
const FETCH: WireApi = { apiKey: 1, apiVersion: 13, apiName: 'Fetch' };

/** Bytes of an answer in all, over its partitions. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

const nothing = Buffer.alloc(0);

/** Records of partitions, asked of their leader, which waits up to `waitMs` until there is something. */
export function fetchRequest(
  questions: readonly FetchQuestion[],
  waitMs: number,
): WireRequest<{ readonly errorCode: number; readonly answers: readonly FetchAnswer[] }> {
  return {
    ...FETCH,
    write: (to) => {
      to.int32(-1).int32(waitMs).int32(1).int32(ANSWER_BYTES_MAX).int8(READ_COMMITTED);
      // No fetch session: what is asked changes with every poll.
      to.int32(0).int32(-1);
      to.compactArray(byTopic(questions), ([topicId, partitions]) => {
        to.uuid(topicId);
        to.compactArray(partitions, ({ partition, offset, bytesMax }) => {
          to.int32(partition).int32(-1).int64(offset).int32(-1).int64(-1).int32(bytesMax).tags();
        });
        to.tags();
      });
      to.compactArray([], () => undefined)
        .compactString('')
        .tags();
    },
    read: (from) => {
      from.int32();
      const errorCode = from.int16();
      from.int32();
      const answers = from.compactArray(() => {
        const topicId = from.uuid();
        const partitions = from.compactArray(() => readPartition(from, topicId));
        from.tags();
        return partitions;
      });
      return { errorCode, answers: answers.flat() };
    },
  };
}

/** Keeps the order, which decides who goes first when not all fits. */
function byTopic(questions: readonly FetchQuestion[]): readonly (readonly [string, readonly FetchQuestion[]])[] {
  return [...Map.groupBy(questions, ({ topicId }) => topicId)];
}

function readPartition(from: WireReader, topicId: string): FetchAnswer {
  const partition = from.int32();
  const errorCode = from.int16();
  from.int64();
  const end = from.int64();
  const low = from.int64();
  const aborted = from.compactArray((): AbortedTransaction => {
    const producerId = from.int64();
    const firstOffset = from.int64();
    from.tags();
    return { producerId, firstOffset };
  });
  from.int32();
  const records = from.compactBytes() ?? nothing;
  from.tags();
  return { topicId, partition, errorCode, low, end, aborted, records };
}
