/**
 * Runs as a thread of its own: reads pages of the log through its own connection and posts them to the thread that
 * started it. It only saves that thread time, so that what goes wrong here ends it, and the other one reads for itself.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Database } from '../database/database.ts';
import type { PageAnswer, PageOrder } from './read-ahead.ts';
import { readPage } from './record-page.ts';

const { file } = workerData as { readonly file: string };
const database = await Database.open({ file, isReadOnly: true, busyMaxMs: 1_000 });
parentPort?.on('message', ({ id, request }: PageOrder) => {
  parentPort?.postMessage({ id, rows: readPage(database, request) } satisfies PageAnswer);
});
parentPort?.postMessage('ready');
