import type { Fence } from '../../src/checkpoints/epoch.ts';
import type { FailureLedger } from '../../src/failures/failure-ledger.ts';
import type { CommitBatch, ReadModelStore } from '../../src/read-models/read-model-store.ts';
import type { SourceRecord } from '../../src/read-models/source-record.ts';
import type { WritePlan } from '../../src/read-models/write-plan.ts';
import type { Stores } from '../../src/subscriptions/stores.ts';
import { checkpointKey } from '../../src/testing/world/memory-tables.ts';
import type { World } from '../../src/testing/world/world.ts';

type Mutation = (world: World) => Stores;

/** Faults that a store could have, each by what it gets wrong. The simulation must notice every one of them. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'a commit is taken whatever its epoch and sequence': (world) => unfenced(world, () => true),

  'the sequence is not compared': (world) =>
    unfenced(world, (fence) => world.stores.checkpoints.stored(fence.scope, fence)?.epoch === fence.epoch),

  'the position moves before the rows are written': (world) => {
    const { readModels } = world.stores;
    return withReadModels(world, {
      commit: async (batch) => {
        const result = await readModels.commit({ ...batch, plan: undefined, ledger: [] });
        await world.clock.sleep(200);
        if (result.kind === 'committed') readModels.write(batch.scope, batch.plan, batch.ledger);
        return result;
      },
    });
  },

  'rows are not found, so that every write counts as newer': (world) =>
    withPlan(world, (plan) => ({
      decide: (sources, rows) => {
        const found = [...rows].map(([key, row]) => [key, forgotten(row)] as const);
        return plan.decide(sources, new Map(found));
      },
    })),

  'missing versions are forgotten': (world) =>
    withPlan(world, (plan) => ({
      decide: (sources, rows) => {
        const complete = [...sources].map(([ref, source]): [typeof ref, SourceRecord] => [
          ref,
          { ...source, missing: [] },
        ]);
        return plan.decide(new Map(complete), rows);
      },
    })),

  'the membership of the ledger comes back empty': (world) => withLedger(world, { membership: async () => [] }),

  'what is parked in other partitions is not told': (world) => withLedger(world, { elsewhere: async () => [] }),

  'a sequence of the ledger is read last entry first': (world) =>
    withLedger(world, {
      entries: async (scope, sequence) => {
        const entries = await world.stores.ledger.entries(scope, sequence, {
          limit: 10_000,
          bytes: Number.POSITIVE_INFINITY,
        });
        return entries.toReversed();
      },
    }),

  'entries of the ledger are lost': (world) => withCommit(world, (batch) => ({ ...batch, ledger: [] })),
};

/** Commits are taken from whoever `isTaken` says, and move their checkpoints to where they say. */
function unfenced(world: World, isTaken: (fence: Fence) => boolean): Stores {
  const { readModels, tables } = world.stores;
  return withReadModels(world, {
    commit: async (batch) => {
      if (!batch.advances.every(({ fence }) => isTaken(fence))) return readModels.commit(batch);
      const refusals = readModels.write(batch.scope, batch.plan, batch.ledger);
      if (refusals.length > 0) return { kind: 'refused', refusals };
      for (const { fence, offset } of batch.advances) {
        const key = checkpointKey(fence.scope, fence);
        const stored = tables.checkpoints.get(key);
        if (stored === undefined) continue;
        const { checkpoint } = stored;
        const sequence = checkpoint.sequence + 1;
        tables.checkpoints.set(key, { ...stored, checkpoint: { ...checkpoint, offset, sequence } });
      }
      return { kind: 'committed' };
    },
  });
}

function forgotten<Row extends { readonly guard: { readonly kind: string } }>(row: Row): Row {
  return row.guard.kind === 'owner' ? { ...row, guard: { ...row.guard, version: 0 } } : row;
}

function withCommit(world: World, change: (batch: CommitBatch) => CommitBatch): Stores {
  return withReadModels(world, { commit: (batch) => world.stores.readModels.commit(change(batch)) });
}

function withPlan(world: World, change: (plan: WritePlan) => Pick<WritePlan, 'decide'>): Stores {
  return withCommit(world, ({ plan, ...batch }) => ({
    ...batch,
    plan: plan && {
      sources: plan.sources,
      rows: (sources) => plan.rows(sources),
      refsOf: (key) => plan.refsOf(key),
      ...change(plan),
    },
  }));
}

function withReadModels(world: World, changed: Partial<ReadModelStore>): Stores {
  const { readModels } = world.stores;
  return {
    ...world.stores,
    readModels: {
      prepare: (scope, model) => readModels.prepare(scope, model),
      commit: (batch) => readModels.commit(batch),
      readRow: (model, id) => readModels.readRow(model, id),
      readRows: (model, page) => readModels.readRows(model, page),
      listModels: () => readModels.listModels(),
      ...changed,
    },
  };
}

function withLedger(world: World, changed: Partial<FailureLedger>): Stores {
  const { ledger } = world.stores;
  return {
    ...world.stores,
    ledger: {
      membership: (scope, partition) => ledger.membership(scope, partition),
      elsewhere: (scope, partition) => ledger.elsewhere(scope, partition),
      entries: (scope, sequence, options) => ledger.entries(scope, sequence, options),
      entryAt: (scope, position) => ledger.entryAt(scope, position),
      list: (filter, limit) => ledger.list(filter, limit),
      count: (scope) => ledger.count(scope),
      ...changed,
    },
  };
}
