import type { WireApi, WireRequest } from './wire-request.ts';

/** Instants that are none: the first offset that is there, and the one after the last that may be read. */
export const EARLIEST = -2;
export const LATEST = -1;

export type OffsetQuestion = {
  readonly topic: string;
  readonly partitions: readonly number[];
  /** Milliseconds since the epoch, `EARLIEST` or `LATEST`. */
  readonly instantMs: number;
};

export type OffsetAnswer = {
  readonly partition: number;
  readonly errorCode: number;
  /** -1: no record is stamped so late. */
  readonly offset: number;
};

const LIST_OFFSETS: WireApi = { apiKey: 2, apiVersion: 6, apiName: 'ListOffsets' };

/** Only what committed transactions hold counts. */
export const READ_COMMITTED = 1;

/** Offsets of partitions of one topic, asked of their leader. */
export function listOffsetsRequest({
  topic,
  partitions,
  instantMs,
}: OffsetQuestion): WireRequest<readonly OffsetAnswer[]> {
  return {
    ...LIST_OFFSETS,
    write: (to) => {
      to.int32(-1).int8(READ_COMMITTED);
      to.compactArray([topic], () => {
        to.compactString(topic);
        to.compactArray(partitions, (partition) => to.int32(partition).int32(-1).int64(instantMs).tags());
        to.tags();
      });
      to.tags();
    },
    read: (from) => {
      from.int32();
      const topics = from.compactArray(() => {
        from.compactString();
        const answers = from.compactArray((): OffsetAnswer => {
          const partition = from.int32();
          const errorCode = from.int16();
          from.int64();
          const offset = from.int64();
          from.int32();
          from.tags();
          return { partition, errorCode, offset };
        });
        from.tags();
        return answers;
      });
      return topics.flat();
    },
  };
}
