import { z } from 'zod';
import { choice, count, duration, mongodbUrl, text } from './leaves.ts';

/** Where read models, checkpoints and failures are kept. */
export const storeSchema = z
  .strictObject({
    kind: choice(['embedded', 'mongodb'], 'Where read models, checkpoints and failures are kept.').default('embedded'),
    url: mongodbUrl('The replica set or sharded cluster, with user and password if it asks for them.').optional(),
    database: text('a name', 'The database; it belongs to this service alone.').optional(),
    poolSize: count({ min: 2, max: 1_000 }, 'Connections to a server at most.').default(20),
    connectTimeout: duration('How long finding a server that takes writes may take.', 1).default(5_000),
    socketTimeout: duration('A server that says nothing for so long is taken for dead.', 1).default(30_000),
    deadline: duration('How long a transaction may take until its outcome counts as unknown.', 100).default(20_000),
  })
  .superRefine(({ kind, url, database }, context) => {
    if (kind !== 'mongodb') return;
    if (url === undefined) context.addIssue({ code: 'custom', path: ['url'] });
    if (database === undefined) context.addIssue({ code: 'custom', path: ['database'] });
  });
