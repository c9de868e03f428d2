import { z } from 'zod';
import { defaultSettings } from '../subscriptions/settings.ts';
import { parseStart } from '../subscriptions/start.ts';
import { leaf } from './leaf.ts';
import { AT_LEAST_ONE, count, duration, size } from './leaves.ts';

const start = leaf({
  expects: 'beginning, end or an instant with its zone, such as 2026-11-01T00:00:00Z',
  description: 'Where the subscription starts while it has no checkpoint; wins over the code.',
  parse(value) {
    if (typeof value !== 'string') return undefined;
    parseStart(value);
    return value;
  },
  format: String,
  jsonSchema: { type: 'string', examples: ['beginning', 'end', '2026-11-01T00:00:00Z'] },
});

const batch = {
  records: count(AT_LEAST_ONE, 'Commits that a window may hold.'),
  bytes: size('Bytes of records whose writes a window may keep in memory.'),
  wait: duration('How long a window that reached the end of the log waits for more commits.'),
  gather: duration('How long a window that is behind gathers before it is committed, full or not.'),
};
const transaction = {
  liveDocuments: count(AT_LEAST_ONE, 'Rows and source records in one transaction while near the end of the log.'),
  behindDocuments: count(
    AT_LEAST_ONE,
    'Rows and source records in one transaction while behind; without it 5000 embedded, 1000 in MongoDB.',
  ),
  bytes: size('Bytes of rows and source records in one transaction.'),
};
const checkpoint = {
  records: count(AT_LEAST_ONE, 'A position that moved over commits nobody wants is saved after this many of them …'),
  interval: duration('… or after this time.', 1),
};
const parked = {
  perAggregate: count(AT_LEAST_ONE, 'Parked commits of one aggregate; at the bound its partition stops.'),
  perSubscription: count(AT_LEAST_ONE, 'Parked commits of one subscription; at the bound it stops.'),
};

/** How subscriptions run that say nothing of their own. */
export const defaultsSchema = z.strictObject({
  batch: z
    .strictObject({
      records: batch.records.default(defaultSettings.batch.records),
      bytes: batch.bytes.default(defaultSettings.batch.bytes),
      wait: batch.wait.default(defaultSettings.batch.waitMs),
      gather: batch.gather.default(defaultSettings.batch.gatherMs),
    })
    .prefault({}),
  transaction: z
    .strictObject({
      liveDocuments: transaction.liveDocuments.default(defaultSettings.transaction.liveDocuments),
      behindDocuments: transaction.behindDocuments.optional(),
      bytes: transaction.bytes.default(defaultSettings.transaction.bytes),
    })
    .prefault({}),
  checkpoint: z
    .strictObject({
      records: checkpoint.records.default(defaultSettings.checkpoint.records),
      interval: checkpoint.interval.default(defaultSettings.checkpoint.intervalMs),
    })
    .prefault({}),
  parked: z
    .strictObject({
      perAggregate: parked.perAggregate.default(defaultSettings.parked.perAggregate),
      perSubscription: parked.perSubscription.default(defaultSettings.parked.perSubscription),
    })
    .prefault({}),
});

/** What one subscription may have of its own; what is missing comes from `defaults`. */
export const subscriptionSchema = z.strictObject({
  start: start.optional(),
  batch: z.strictObject(batch).partial().prefault({}),
  transaction: z.strictObject(transaction).partial().prefault({}),
  checkpoint: z.strictObject(checkpoint).partial().prefault({}),
  parked: z.strictObject(parked).partial().prefault({}),
});
