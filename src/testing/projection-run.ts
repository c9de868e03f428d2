import { type ForeignRecord, openEmbedded } from '../adapters/embedded/index.ts';
import { Engine } from '../engine/engine.ts';
import type { ListedEntry } from '../failures/failure-ledger.ts';
import type { CommitRecord } from '../log/commit-record.ts';
import type { Projection } from '../projections/projection.ts';
import type { ReadModelStore, ReadRow } from '../read-models/read-model-store.ts';
import { assert } from '../runtime/assert.ts';
import type { Random } from '../runtime/random.ts';
import { defaultSettings } from '../subscriptions/settings.ts';
import { worker } from '../subscriptions/worker.ts';
import { HandlerWatch } from './handler-watch.ts';
import { hurriedRuntime } from './hurried-runtime.ts';

/** What a projection made of commits. */
export type ProjectionRun = {
  /** Rows that readers see, by read model, ordered by id. */
  readonly rows: ReadonlyMap<string, readonly ReadRow[]>;
  /** What could not be handled. */
  readonly parked: readonly ListedEntry[];
  /** Mistakes that were noticed in the handlers, a sentence each. */
  readonly problems: readonly string[];
};

const PARKED_MAX = 1_000;
const ROWS_PER_PAGE = 1_000;
const WINDOW_RECORDS_MAX = 16;

/**
 * Runs the whole way of a commit in memory: log, engine, fenced transactions, rows. Windows are small and their size is
 * chosen by chance, so that what arrives again or late meets rows that are stored already as well as pending ones.
 */
export async function runProjection(
  projection: Projection,
  deliveries: readonly CommitRecord[],
  random: Random,
): Promise<ProjectionRun> {
  const watch = new HandlerWatch();
  const watched = { ...projection, subscriptions: projection.subscriptions.map((one) => watch.watch(one)) };
  const records = 1 + Math.floor(random.next() * WINDOW_RECORDS_MAX);
  await using stores = await openEmbedded({ file: ':memory:', role: 'follower' });
  await stores.appendRecords(deliveries.flatMap((commit) => recordsOf(projection, commit)));
  await using engine = new Engine({
    worker: worker({ context: contextOf(projection), subscriptions: [watched] }),
    stores,
    runtime: hurriedRuntime(random),
    settings: () => ({ ...defaultSettings, batch: { ...defaultSettings.batch, records } }),
    owner: 'projectionSpec',
  });
  engine.start();
  const { isComplete, subscriptions } = await Promise.race([
    engine.caughtUp(new AbortController().signal),
    engine.failed,
  ]);
  await engine.stop();
  assert(isComplete, 'a projection reaches the end of a log in memory', { subscriptions });
  return {
    rows: await rowsOf(projection, stores.readModels),
    parked: await stores.ledger.list({}, PARKED_MAX),
    problems: watch.problems,
  };
}

/** A commit goes onto every topic that the projection follows its aggregate on; mostly one. */
function recordsOf({ subscriptions }: Projection, commit: CommitRecord): readonly ForeignRecord[] {
  const topics = new Set<string>();
  for (const { context, aggregate, topic } of subscriptions.flatMap(({ aggregates }) => aggregates)) {
    if (context === commit.contextName && aggregate === commit.aggregateName) topics.add(topic);
  }
  const value = JSON.stringify(commit);
  return Array.from(topics, (topic) => ({
    topic,
    key: commit.aggregateId,
    value,
    headers: [],
    timestamp: commit.createTime,
  }));
}

function contextOf({ subscriptions }: Projection): string {
  return subscriptions[0]?.aggregates[0]?.context ?? 'test';
}

async function rowsOf(
  { subscriptions }: Projection,
  store: ReadModelStore,
): Promise<ReadonlyMap<string, readonly ReadRow[]>> {
  const rows = new Map<string, readonly ReadRow[]>();
  for (const { name } of subscriptions.flatMap(({ models }) => models)) rows.set(name, await allRows(name, store));
  return rows;
}

async function allRows(model: string, store: ReadModelStore): Promise<readonly ReadRow[]> {
  const rows: ReadRow[] = [];
  for (;;) {
    const page = await store.readRows(model, { afterId: rows.at(-1)?.id, limit: ROWS_PER_PAGE });
    rows.push(...page);
    if (page.length < ROWS_PER_PAGE) return rows;
  }
}
