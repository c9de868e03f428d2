import type { WireRequest } from '../../../src/adapters/kafka/wire/wire-request.ts';

/** Appends one record batch to one partition, acknowledged by all replicas; answers with the error's number. */
export function produceRequest(to: {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}): WireRequest<number> {
  return {
    apiKey: 0,
    apiVersion: 9,
    apiName: 'Produce',
    write: (writer) => {
      writer.compactString(undefined).int16(-1).int32(10_000);
      writer.compactArray([to], ({ topic, partition, batch }) => {
        writer.compactString(topic);
        writer.compactArray([batch], (bytes) => writer.int32(partition).compactBytes(bytes).tags());
        writer.tags();
      });
      writer.tags();
    },
    read: (reader) => {
      const [errorCode = 0] = reader
        .compactArray(() => {
          reader.compactString();
          const codes = reader.compactArray(() => {
            reader.int32();
            const code = reader.int16();
            for (let field = 0; field < 3; field += 1) reader.int64();
            reader.compactArray(() => {
              reader.int32();
              reader.compactString();
              reader.tags();
            });
            reader.compactString();
            reader.tags();
            return code;
          });
          reader.tags();
          return codes;
        })
        .flat();
      return errorCode;
    },
  };
}
