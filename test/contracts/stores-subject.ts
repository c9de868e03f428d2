import { expect } from 'vitest';
import type { Checkpoint } from '../../src/checkpoints/checkpoint.ts';
import type { Fence, Scope } from '../../src/checkpoints/epoch.ts';
import type { LedgerChange } from '../../src/failures/failure.ts';
import type { TopicPartition } from '../../src/log/position.ts';
import type { CommitBatch, CommitResult } from '../../src/read-models/read-model-store.ts';
import type { WritePlan } from '../../src/read-models/write-plan.ts';
import type { Stores } from '../../src/subscriptions/stores.ts';

/** The stores of one adapter that are written in one transaction. */
export type StoresSubject = Omit<Stores, 'log'>;

export const scope: Scope = { subscription: 'Orders.onEvent', generation: 1 };
export const partition: TopicPartition = { topic: 'wow.eshop.order.state', partition: 0 };

/** The owner of one partition, which knows where its checkpoint stands. */
export type Owner = {
  readonly fence: () => Fence;
  readonly batch: (parts: BatchParts) => CommitBatch;
  /** Commits under the current fence; what is accepted moves it. */
  readonly commit: (parts?: BatchParts) => Promise<CommitResult>;
};

export type BatchParts = {
  readonly offset?: number;
  readonly plan?: WritePlan;
  readonly ledger?: readonly LedgerChange[];
};

/** Initialises at `offset` unless that was done before, and claims. */
export async function claimed(
  { checkpoints, readModels }: StoresSubject,
  { of = scope, at = partition, offset = 0 }: { of?: Scope; at?: TopicPartition; offset?: number } = {},
): Promise<Owner> {
  await checkpoints.initialise(of, {
    topic: at.topic,
    identity: 'log-1',
    starts: [{ partition: at.partition, offset }],
    origin: 'start: beginning (projection default)',
    isHistoryIncomplete: false,
  });
  const claim = await checkpoints.claim(of, { ...at, lowIfAdded: 0 }, 'owner');
  if (claim.kind !== 'claimed') throw new Error(`refused: ${claim.reason}`);
  let standing: Checkpoint = claim.checkpoint;
  const fence = (): Fence => ({ ...at, scope: of, epoch: standing.epoch, sequence: standing.sequence });
  const batch = ({ offset: to = standing.offset, plan, ledger = [] }: BatchParts): CommitBatch => ({
    scope: of,
    advances: [{ fence: fence(), offset: to }],
    plan,
    ledger,
  });
  return {
    fence,
    batch,
    commit: async (parts = {}) => {
      const result = await readModels.commit(batch(parts));
      if (result.kind === 'committed') {
        standing = { ...standing, sequence: standing.sequence + 1, offset: parts.offset ?? standing.offset };
      }
      return result;
    },
  };
}

/** Commits, and states that it was accepted. */
export async function commitOn(owner: Owner, parts: BatchParts = {}): Promise<void> {
  expect(await owner.commit(parts)).toEqual({ kind: 'committed' });
}

const nothing = async (): Promise<undefined> => undefined;
const none = async (): Promise<readonly never[]> => [];

/** Stores that do nothing and have nothing. */
export function idleStores(): StoresSubject {
  return {
    checkpoints: {
      initialisation: nothing,
      initialise: async (_scope, initialisation) => initialisation,
      claim: async () => ({ kind: 'refused', reason: 'not initialised' }),
      save: async () => ({ kind: 'fenced', stored: undefined }),
      read: nothing,
      reset: async () => undefined,
      drop: async () => undefined,
      list: none,
    },
    readModels: {
      prepare: async () => undefined,
      commit: async ({ advances: [first] }) => ({
        kind: 'fenced',
        partition: first?.fence ?? partition,
        stored: undefined,
      }),
      readRow: nothing,
      readRows: none,
      listModels: none,
    },
    ledger: { membership: none, elsewhere: none, entries: none, entryAt: nothing, list: none, count: async () => 0 },
  };
}

/** Stores that say yes to everything and keep nothing. */
export function agreeingStores(): StoresSubject {
  const idle = idleStores();
  return {
    ...idle,
    checkpoints: {
      ...idle.checkpoints,
      claim: async (_scope, { topic, partition: number }) => ({
        kind: 'claimed',
        checkpoint: {
          topic,
          partition: number,
          epoch: 1,
          sequence: 0,
          offset: 0,
          completed: [],
          origin: 'start: beginning (projection default)',
          savedAt: 1,
        },
      }),
      save: async () => ({ kind: 'saved' }),
    },
    readModels: { ...idle.readModels, commit: async () => ({ kind: 'committed' }) },
  };
}
