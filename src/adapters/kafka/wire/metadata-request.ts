import { WireError } from './wire-error.ts';
import type { WireReader } from './wire-reader.ts';
import type { WireApi, WireRequest } from './wire-request.ts';

export type BrokerAddress = { readonly host: string; readonly port: number };

export type PartitionAnswer = { readonly errorCode: number; readonly partition: number; readonly leader: number };

export type TopicAnswer = {
  readonly errorCode: number;
  readonly topic: string;
  readonly id: string;
  readonly partitions: readonly PartitionAnswer[];
};

export type MetadataAnswer = {
  readonly brokers: readonly (BrokerAddress & { readonly node: number })[];
  readonly clusterId: string;
  readonly topics: readonly TopicAnswer[];
};

/** The first version that asks with names and tells topic ids, and may say that a topic has none. */
const METADATA: WireApi = { apiKey: 3, apiVersion: 12, apiName: 'Metadata' };

const NO_ID = '0'.repeat(32);

/** Which brokers there are, and who leads the partitions of these topics. Makes no topic. */
export function metadataRequest(topics: readonly string[]): WireRequest<MetadataAnswer> {
  return {
    ...METADATA,
    write: (to) => {
      to.compactArray(topics, (topic) => to.uuid(NO_ID).compactString(topic).tags());
      to.boolean(false).boolean(false).tags();
    },
    read: (from) => {
      from.int32();
      const brokers = from.compactArray(() => readBroker(from));
      const clusterId = from.compactString() ?? '';
      from.int32();
      return { brokers, clusterId, topics: from.compactArray(() => readTopic(from)) };
    },
  };
}

function readBroker(from: WireReader): BrokerAddress & { readonly node: number } {
  const node = from.int32();
  const host = from.compactString();
  const port = from.int32();
  from.compactString();
  from.tags();
  if (host === undefined) throw new WireError('a broker has no host');
  return { node, host, port };
}

function readTopic(from: WireReader): TopicAnswer {
  const errorCode = from.int16();
  const topic = from.compactString() ?? '';
  const id = from.uuid();
  from.int8();
  const partitions = from.compactArray(() => readPartition(from));
  from.int32();
  from.tags();
  return { errorCode, topic, id, partitions };
}

function readPartition(from: WireReader): PartitionAnswer {
  const errorCode = from.int16();
  const partition = from.int32();
  const leader = from.int32();
  from.int32();
  for (let list = 0; list < 3; list += 1) from.compactArray(() => from.int32());
  from.tags();
  return { errorCode, partition, leader };
}
