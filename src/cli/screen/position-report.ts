import type { SubscriptionStatus } from '../../subscriptions/status.ts';
import type { Stores } from '../../subscriptions/stores.ts';
import { formatTable } from './table.ts';

/** Where a subscription stands in one partition. */
export type PositionLine = {
  readonly subscription: string;
  readonly topic: string;
  readonly partition: number;
  /** As the running worker knows it; `undefined` where only the store was asked. */
  readonly state: string | undefined;
  readonly reason: string | undefined;
  readonly offset: number;
  readonly end: number;
  readonly lag: number;
  /** Commits in the failure ledger. */
  readonly parked: number;
  readonly origin: string;
  readonly epoch: number;
  /** Who claimed the partition last, and when its position was saved; only the store knows. */
  readonly owner: string | undefined;
  readonly savedAt: string | undefined;
};

/** What a running worker knows. */
export function positionsOf(subscriptions: readonly SubscriptionStatus[]): readonly PositionLine[] {
  return subscriptions.flatMap(({ subscription, partitions }) =>
    partitions.map((partition) => ({
      subscription,
      topic: partition.topic,
      partition: partition.partition,
      state: partition.state,
      reason: partition.reason,
      offset: partition.offset,
      end: partition.end,
      lag: Math.max(0, partition.end - partition.offset),
      parked: partition.parked,
      origin: partition.origin,
      epoch: partition.epoch,
      owner: undefined,
      savedAt: undefined,
    })),
  );
}

/** Reads what the store and the log know, without a running worker. */
export async function readPositions(stores: Stores): Promise<readonly PositionLine[]> {
  const ends = new Map<string, ReadonlyMap<number, number>>();
  const lines: PositionLine[] = [];
  for (const checkpoint of await stores.checkpoints.list()) {
    const { scope, topic, partition, offset, origin, epoch, owner, savedAt } = checkpoint;
    const ofTopic = ends.get(topic) ?? (await endsOf(stores, topic));
    ends.set(topic, ofTopic);
    const end = ofTopic.get(partition) ?? 0;
    const sequences = await stores.ledger.membership(scope, { topic, partition });
    lines.push({
      subscription: scope.subscription,
      topic,
      partition,
      state: undefined,
      reason: undefined,
      offset,
      end,
      lag: Math.max(0, end - offset),
      parked: sequences.reduce((sum, { entries }) => sum + entries, 0),
      origin,
      epoch,
      owner,
      savedAt: new Date(savedAt).toISOString(),
    });
  }
  return lines;
}

async function endsOf(stores: Stores, topic: string): Promise<ReadonlyMap<number, number>> {
  const { partitions } = await stores.log.describe(topic);
  return new Map(partitions.map(({ partition, end }) => [partition, end]));
}

/** A table for people: a line per partition. Of a running worker its states, of the store who claimed last. */
export function formatPositions(lines: readonly PositionLine[]): string {
  const isRunning = lines.some(({ state }) => state !== undefined);
  const columns = ['subscription', 'topic', 'partition', 'position', 'end', 'lag', 'parked', 'epoch'];
  return formatTable(
    [...columns, ...(isRunning ? ['state'] : ['owner', 'saved']), 'from'],
    lines.map(({ subscription, topic, partition, offset, end, lag, parked, epoch, state, owner, savedAt, origin }) => {
      const where = [subscription, topic, partition, offset, end, lag, parked, epoch];
      return [...where, ...(isRunning ? [state] : [shortOwner(owner), savedAt]), origin];
    }),
  );
}

/** Host and process; what tells starts of one process id apart is for programs. */
function shortOwner(owner: string | undefined): string | undefined {
  return /^(.*:\d+):[^:]+$/.exec(owner ?? '')?.[1] ?? owner;
}
