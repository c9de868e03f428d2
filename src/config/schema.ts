import { z } from 'zod';
import { formatDuration, parseDuration } from '../runtime/duration.ts';
import { formatSize, parseSize } from '../runtime/size.ts';
import { defaultSettings } from '../subscriptions/settings.ts';
import { parseStart } from '../subscriptions/start.ts';
import { leaf } from './leaf.ts';

type Range = { readonly min: number; readonly max: number };

const AT_LEAST_ONE: Range = { min: 1, max: Number.MAX_SAFE_INTEGER };

function text(expects: string, description: string): z.ZodType<string> {
  return leaf({
    expects,
    description,
    parse: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
    format: String,
    jsonSchema: { type: 'string', minLength: 1 },
  });
}

function choice<const T extends string>(values: readonly T[], description: string): z.ZodType<T> {
  return leaf({
    expects: values.length === 1 ? values.join() : `one of ${values.join(', ')}`,
    description,
    parse: (value) => values.find((one) => one === value),
    format: String,
    jsonSchema: { enum: values },
  });
}

/** An integer. Texts of digits are read too: variables, flags and `${…}` have nothing else. */
function count({ min, max }: Range, description: string): z.ZodType<number> {
  return leaf({
    expects: max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
    description,
    parse(value) {
      const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
      return typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max
        ? number
        : undefined;
    },
    format: String,
    jsonSchema: { anyOf: [{ type: 'integer', minimum: min, maximum: max }, { type: 'string' }] },
  });
}

function duration(description: string, minMs = 0): z.ZodType<number> {
  return leaf({
    expects: 'a duration with its unit, such as 20ms, 30s or 5m',
    description,
    parse: (value) => atLeast(minMs, typeof value === 'string' ? parseDuration(value) : undefined),
    format: formatDuration,
    jsonSchema: { type: 'string', examples: ['20ms', '30s', '5m'] },
  });
}

function size(description: string): z.ZodType<number> {
  return leaf({
    expects: 'a size with its unit, such as 512KiB or 8MiB',
    description,
    parse: (value) => atLeast(1, typeof value === 'string' ? parseSize(value) : undefined),
    format: formatSize,
    jsonSchema: { type: 'string', examples: ['512KiB', '8MiB'] },
  });
}

function atLeast(min: number, value: number | undefined): number | undefined {
  return value === undefined || value < min ? undefined : value;
}

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
  behindDocuments: count(AT_LEAST_ONE, 'Rows and source records in one transaction while behind.'),
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

const defaults = z.strictObject({
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
      behindDocuments: transaction.behindDocuments.default(defaultSettings.transaction.behindDocuments),
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
const subscription = z.strictObject({
  start: start.optional(),
  batch: z.strictObject(batch).partial().prefault({}),
  transaction: z.strictObject(transaction).partial().prefault({}),
  checkpoint: z.strictObject(checkpoint).partial().prefault({}),
  parked: z.strictObject(parked).partial().prefault({}),
});

/** All that can be configured. Durations are milliseconds, sizes are bytes. */
export const configSchema = z.strictObject({
  app: text(
    'the path of a module that exports a worker',
    'The module with the worker; relative to the config file, or to the current folder in a variable or flag.',
  ).optional(),
  log: z.strictObject({ kind: choice(['embedded'], 'Where commits are read from.').default('embedded') }).prefault({}),
  store: z
    .strictObject({
      kind: choice(['embedded'], 'Where read models, checkpoints and failures are kept.').default('embedded'),
    })
    .prefault({}),
  embedded: z
    .strictObject({
      file: text('a path', 'The SQLite file; relative to the current folder.').default('./data/tidemark.db'),
      partitions: count({ min: 1, max: 1_000 }, 'Partitions of each topic; fixed when the file is made.').default(4),
    })
    .prefault({}),
  defaults: defaults.prefault({}),
  subscriptions: z.record(z.string(), subscription).default({}),
  drain: duration('How long a stop may take; what is not finished then is repeated at the next start.').default(30_000),
  logs: z
    .strictObject({
      level: choice(['debug', 'info', 'warn', 'error', 'silent'], 'The least severe log lines to write.').default(
        'info',
      ),
      format: choice(
        ['auto', 'json', 'pretty'],
        'JSON lines or lines for people; auto: for people on a terminal, else JSON.',
      ).default('auto'),
    })
    .prefault({}),
});

export type ConfigValues = z.output<typeof configSchema>;
