import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitRecord } from 'tidemark';
import { eshopCommits } from '../generator/eshop-commits.ts';
import type { DemoShop } from './demo-shop.ts';

const SAMPLE_COMMITS = 2_000;
const LIVE_INTERVAL_MS = 200;
const TOPICS = ['order', 'payment', 'buyer', 'brand'].map((aggregate) => `wow.eshop.${aggregate}.state`);

/** How many commits the shop has in the log. */
export async function countCommits({ stores: { log } }: Pick<DemoShop, 'stores'>): Promise<number> {
  let count = 0;
  for (const topic of TOPICS) {
    const { partitions } = await log.describe(topic);
    for (const { end } of partitions) count += end;
  }
  return count;
}

/** Appends the sample if there is nothing yet, and says how much that was. */
export async function appendSample(demo: DemoShop): Promise<number> {
  if ((await countCommits(demo)) > 0) return 0;
  const { appended } = await demo.append(linesOf(eshopCommits({ commits: SAMPLE_COMMITS })));
  return appended;
}

/** Goes on appending, five commits a second, until `signal` aborts; `onCommit` is told of each a moment later. */
export async function appendLive(
  demo: DemoShop,
  onCommit: (commit: CommitRecord) => void,
  signal: AbortSignal,
): Promise<void> {
  // The length of the log is a name that no earlier run can have had: it appended something under its own.
  const count = await countCommits(demo);
  for (const commit of eshopCommits({ seed: count, series: count.toString(36), nowMs: Date.now })) {
    if (signal.aborted) return;
    await demo.append([JSON.stringify(commit)]);
    await sleep(LIVE_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    onCommit(commit);
  }
}

function* linesOf(commits: Iterable<CommitRecord>): Generator<string> {
  for (const commit of commits) yield JSON.stringify(commit);
}
