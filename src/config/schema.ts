import { z } from 'zod';
import { choice, count, duration, text } from './leaves.ts';
import { logSchema } from './log-schema.ts';
import { storeSchema } from './store-schema.ts';
import { defaultsSchema, subscriptionSchema } from './subscription-schema.ts';

/** All that can be configured. Durations are milliseconds, sizes are bytes. */
export const configSchema = z.strictObject({
  app: text(
    'the path of a module that exports a worker',
    'The module with the worker; relative to the config file, or to the current folder in a variable or flag.',
  ).optional(),
  log: logSchema.prefault({}),
  store: storeSchema.prefault({}),
  embedded: z
    .strictObject({
      file: text('a path', 'The SQLite file; relative to the current folder.').default('./data/tidemark.db'),
      partitions: count({ min: 1, max: 1_000 }, 'Partitions of each topic; fixed when the file is made.').default(4),
    })
    .prefault({}),
  defaults: defaultsSchema.prefault({}),
  subscriptions: z.record(z.string(), subscriptionSchema).default({}),
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
