import type { ClientSession, Collection } from 'mongodb';
import type { Checkpoint, Run } from '../../../checkpoints/checkpoint.ts';
import type { Fence, Scope } from '../../../checkpoints/epoch.ts';
import { savedOrigin } from '../../../checkpoints/origin.ts';
import type { TopicPartition } from '../../../log/position.ts';
import { int64, numberOf } from '../server/int64.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { type PartitionId, partitionIdOf } from './partition-id.ts';

export type CheckpointDocument = {
  _id: PartitionId;
  epoch: bigint;
  sequence: bigint;
  position: bigint;
  completed: readonly { readonly from: bigint; readonly to: bigint }[];
  origin: string;
  owner: string;
  /** By the store's clock. */
  savedAt: Date;
};

/** What a checkpoint moves to. */
export type Move = { readonly fence: Fence; readonly offset: number; readonly completed: readonly Run[] };

/** Single checkpoints, as documents of `tm_checkpoint`. */
export class CheckpointDocuments {
  readonly collection: Collection<CheckpointDocument>;

  constructor(database: MongoDatabase) {
    this.collection = database.collection<CheckpointDocument>('tm_checkpoint');
  }

  async read(scope: Scope, partition: TopicPartition): Promise<Checkpoint | undefined> {
    const document = await this.collection.findOne({ _id: partitionIdOf(scope, partition) });
    return document === null ? undefined : toCheckpoint(document);
  }

  /** Whether it stood at exactly the fence and not beyond `offset`; then it moved. */
  async move({ fence, offset, completed }: Move, session?: ClientSession): Promise<boolean> {
    const position = int64(offset);
    const runs = toRuns(completed);
    const isSame = { $and: [{ $eq: ['$position', position] }, { $eq: ['$completed', { $literal: runs }] }] };
    const { matchedCount } = await this.collection.updateOne(
      {
        _id: partitionIdOf(fence.scope, fence),
        epoch: int64(fence.epoch),
        sequence: int64(fence.sequence),
        position: { $lte: position },
      },
      [
        {
          $set: {
            sequence: { $add: ['$sequence', int64(1)] },
            position,
            completed: { $literal: runs },
            origin: { $cond: [isSame, '$origin', savedOrigin] },
            savedAt: '$$NOW',
          },
        },
      ],
      session === undefined ? {} : { session },
    );
    return matchedCount === 1;
  }
}

function toRuns(completed: readonly Run[]): CheckpointDocument['completed'] {
  return completed.map(({ from, to }) => ({ from: int64(from), to: int64(to) }));
}

export function toCheckpoint(document: CheckpointDocument): Checkpoint {
  const { _id, epoch, sequence, position, completed, origin, savedAt } = document;
  return {
    topic: _id.topic,
    partition: _id.partition,
    epoch: numberOf(epoch),
    sequence: numberOf(sequence),
    offset: numberOf(position),
    completed: completed.map(({ from, to }) => ({ from: numberOf(from), to: numberOf(to) })),
    origin,
    savedAt: savedAt.getTime(),
  };
}
