import type { PartitionStatus, ReadModelStore, ReadRow, SubscriptionStatus } from 'tidemark';
import { formatCount, formatTable } from './console-table.ts';

const ROWS_SHOWN = 4;
const ROWS_PER_PAGE = 1_000;

/** Where each subscription stands in the partitions of the topics it follows. */
export function formatSubscriptions(subscriptions: readonly SubscriptionStatus[]): string {
  const partitions = subscriptions.flatMap((one) => one.partitions);
  const numbers = [...new Set(partitions.map(({ partition }) => partition))].toSorted((a, b) => a - b);
  const titles = ['subscription', 'topic', ...numbers.map((number) => `p${number}`), 'behind', 'parked', 'state'];
  const rows = subscriptions.flatMap(({ subscription, stopped, partitions: own }) =>
    [...Map.groupBy(own, ({ topic }) => topic)].map(([topic, ofTopic]) => [
      subscription,
      topic,
      ...numbers.map((number) => ofTopic.find(({ partition }) => partition === number)?.offset ?? ''),
      behind(ofTopic),
      ofTopic.reduce((sum, { parked }) => sum + parked, 0),
      stopped ?? stateOf(ofTopic),
    ]),
  );
  return `Subscriptions, with their position in each partition:\n\n${formatTable(titles, rows)}\n`;
}

/** How many commits of the log are not handled yet, in all. */
export function behind(partitions: readonly PartitionStatus[]): number {
  return partitions.reduce((sum, { end, offset }) => sum + Math.max(0, end - offset), 0);
}

function stateOf(partitions: readonly PartitionStatus[]): string {
  const trouble = partitions.find(({ reason }) => reason !== undefined);
  if (trouble !== undefined) return `${trouble.state}: ${trouble.reason ?? ''}`;
  return behind(partitions) === 0 ? 'at the head' : 'following';
}

/** The first rows of a read model, and how many there are. */
export async function formatReadModel(store: ReadModelStore, model: string): Promise<string> {
  const first = await store.readRows(model, { afterId: undefined, limit: ROWS_SHOWN });
  const count = await countRows(store, model);
  const fields = [...new Set(first.flatMap(({ row }) => Object.keys(row)))];
  // What the row says itself needs no second column.
  const shown = fields.filter((field) => field !== 'tenantId');
  const rows = first.map(({ id, row }) => [id, ...shown.map((field) => cellOf(field, row[field]))]);
  return `${model}, ${formatCount(count)} rows:\n\n${formatTable(['id', ...shown], rows)}\n`;
}

async function countRows(store: ReadModelStore, model: string): Promise<number> {
  let count = 0;
  let page: readonly ReadRow[] = [];
  do {
    page = await store.readRows(model, { afterId: page.at(-1)?.id, limit: ROWS_PER_PAGE });
    count += page.length;
  } while (page.length === ROWS_PER_PAGE);
  return count;
}

function cellOf(field: string, value: unknown): string | number {
  if (typeof value === 'number') {
    if (field.endsWith('At')) return new Date(value).toISOString().slice(0, 19).replace('T', ' ');
    return /amount$/i.test(field) ? value.toFixed(2) : value;
  }
  return typeof value === 'string' ? value : '';
}
