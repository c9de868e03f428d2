import { realpathSync } from 'node:fs';
import { pid } from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { TidemarkError } from '../../../runtime/errors.ts';
import { integerOf, oneRow } from './columns.ts';
import { type Database, memoryFile } from './database.ts';
import { isBusy, translated } from './sqlite-error.ts';

/** Another process follows this file. */
export class FileHeldError extends TidemarkError {
  readonly code = 'FILE_HELD';
}

/** Held until released (idempotent), or until the process is gone, however it ended. */
export type FollowerLock = { readonly release: () => void };

/**
 * Makes this process the one follower of the file, or throws `FileHeldError` with the pid and start of the one that is.
 * An open exclusive transaction on a file beside it is a lock of the operating system: it ends with its process, so a
 * killed follower holds nothing up. Reading and appending need no lock.
 */
export async function lockAsFollower(database: Database, nowMs: number): Promise<FollowerLock> {
  if (database.file === memoryFile) return { release: () => undefined };
  // By whatever link it is reached, it is one file.
  const lockFile = `${realpathSync(database.file)}-follower`;
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockFile, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    throw isBusy(error) ? heldBy(database) : translated(error, lockFile);
  }
  const held = lock;
  try {
    await database.write(() => {
      database.statement('DELETE FROM tm_follower').run();
      database.statement('INSERT INTO tm_follower(pid, started_at) VALUES (?, ?)').run(pid, nowMs);
    });
  } catch (error) {
    held.close();
    throw error;
  }
  const release = (): void => {
    if (held.isOpen) held.close();
  };
  return { release };
}

function heldBy(database: Database): FileHeldError {
  const { file } = database;
  const row = database.read(() => oneRow(database.statement('SELECT pid, started_at FROM tm_follower')));
  const holder = row && { pid: integerOf(row[0]), startedAt: new Date(integerOf(row[1])).toISOString() };
  const who = holder === undefined ? 'another process' : `process ${holder.pid}, started at ${holder.startedAt}`;
  return new FileHeldError(`The file ${file} is followed by ${who}.`, {
    details: { file, ...holder },
    hint: 'One process at a time follows a file. Stop that one, or use Kafka and MongoDB to share the work.',
  });
}
