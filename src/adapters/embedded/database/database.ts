import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { assert } from '../../../runtime/assert.ts';
import { TidemarkError, UnavailableError } from '../../../runtime/errors.ts';
import { ChangeWatch } from './change-watch.ts';
import { integerOf, oneRow } from './columns.ts';
import { FileUnusableError, isBusy, translated } from './sqlite-error.ts';

/** The file to read does not exist. */
export class FileMissingError extends TidemarkError {
  readonly code = 'FILE_MISSING';
}

/** Name of a database that lives in memory only. */
export const memoryFile = ':memory:';

/** The driver's own waiting blocks the event loop: short, then we wait ourselves. */
const blockingBusyMs = 20;
const busyRetryMinMs = 5;
const busyRetryMaxMs = 30;
const idleCheckpointMs = 5_000;
const walBytesMax = 64 * 1024 * 1024;
/** Records and rows of about 1 KB leave a quarter of a page of the usual 4 KiB empty. Only new files get it. */
const pageBytes = 8_192;
const walCheckpointPages = 4_000;
const cacheKib = 32 * 1024;
/** Whoever only reads goes through once. */
const readerCacheKib = 4 * 1024;

export type DatabaseOptions = {
  readonly file: string;
  readonly isReadOnly: boolean;
  /** How long a write waits for another process before it gives up, milliseconds. */
  readonly busyMaxMs: number;
};

/** Bytes on disk: the file itself and its write-ahead file. Both 0 in memory. */
export type FileSizes = { readonly file: number; readonly writeAhead: number };

/**
 * One connection to one SQLite file, in write-ahead mode with full synchronisation: what a finished `write` did survives
 * a crash of the machine. All errors of the driver leave it translated.
 */
export class Database {
  readonly file: string;
  readonly changes: ChangeWatch;
  readonly #connection: DatabaseSync;
  readonly #busyMaxMs: number;
  readonly #statements = new Map<string, StatementSync>();
  #idleTimer: NodeJS.Timeout | undefined;
  #writtenAt = 0;

  private constructor(connection: DatabaseSync, { file, busyMaxMs }: DatabaseOptions) {
    this.file = file;
    this.#connection = connection;
    this.#busyMaxMs = busyMaxMs;
    this.changes = new ChangeWatch(() => this.version());
  }

  /** Opens the file; makes it and its directory unless it is opened for reading only. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const { file, isReadOnly, busyMaxMs } = options;
    if (file !== memoryFile) ensurePlace(options);
    let connection: DatabaseSync;
    try {
      connection = new DatabaseSync(file, { readOnly: isReadOnly, timeout: blockingBusyMs });
    } catch (error) {
      throw translated(error, file);
    }
    try {
      await retryBusy(() => configure(connection, options), busyMaxMs);
    } catch (error) {
      connection.close();
      throw translated(error, file);
    }
    return new Database(connection, options);
  }

  /** The prepared statement of `sql`, made once. It returns rows as arrays. */
  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      this.#assertOpen();
      statement = this.#connection.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs statements that make or drop tables. Only inside `write`. */
  define(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Reads within one turn of the event loop; no read stays open behind it. */
  read<T>(body: () => T): T {
    this.#assertOpen();
    try {
      return body();
    } catch (error) {
      throw translated(error, this.file);
    }
  }

  /**
   * One transaction: durable when the promise resolves, nothing of it stands when it rejects or `isKept` says no.
   * `body` runs in one turn of the event loop, after the file is locked; while another process holds the lock it waits
   * without blocking, up to the bound, then rejects with `UnavailableError`.
   */
  async write<T>(body: () => T, isKept: (result: T) => boolean = () => true): Promise<T> {
    try {
      return await retryBusy(() => this.#transact(body, isKept), this.#busyMaxMs);
    } catch (error) {
      throw translated(error, this.file);
    }
  }

  /** Another number after each commit of another connection; our own commits do not change it. */
  version(): number {
    return integerOf(oneRow(this.statement('PRAGMA data_version'))?.[0]);
  }

  sizes(): FileSizes {
    return this.file === memoryFile
      ? { file: 0, writeAhead: 0 }
      : { file: bytesOf(this.file), writeAhead: bytesOf(`${this.file}-wal`) };
  }

  /** Ends every waiting and gives the file back. Idempotent. */
  close(): void {
    this.changes.close();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#statements.clear();
    if (this.#connection.isOpen) this.#connection.close();
  }

  #transact<T>(body: () => T, isKept: (result: T) => boolean): T {
    this.#assertOpen();
    this.statement('BEGIN IMMEDIATE').run();
    try {
      const result = body();
      this.statement(isKept(result) ? 'COMMIT' : 'ROLLBACK').run();
      this.#noteWrite();
      return result;
    } catch (error) {
      // Some errors (a full disk) have rolled back by themselves.
      if (this.#connection.isTransaction) this.statement('ROLLBACK').run();
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#connection.isOpen) return;
    throw new UnavailableError(`The file ${this.file} is closed.`, { details: { file: this.file } });
  }

  /** Once nothing was written for a while, moves the write-ahead file's content over, so that it starts again. */
  #noteWrite(): void {
    this.#writtenAt = performance.now();
    if (this.#idleTimer !== undefined || this.file === memoryFile) return;
    this.#idleTimer = setTimeout(() => this.#checkpointIfIdle(), idleCheckpointMs).unref();
  }

  #checkpointIfIdle(): void {
    this.#idleTimer = undefined;
    const idleMs = performance.now() - this.#writtenAt;
    if (idleMs < idleCheckpointMs) {
      this.#idleTimer = setTimeout(() => this.#checkpointIfIdle(), idleCheckpointMs - idleMs + 1).unref();
      return;
    }
    try {
      this.statement('PRAGMA wal_checkpoint(PASSIVE)').all();
    } catch {
      // Only tidying: what is wrong with the file shows at the next write, to somebody who waits for its outcome.
    }
  }
}

function ensurePlace({ file, isReadOnly }: DatabaseOptions): void {
  if (isReadOnly) {
    if (existsSync(file)) return;
    throw new FileMissingError(`There is no file ${file}.`, {
      details: { file },
      hint: 'It is made by the first append or run. Look at the path.',
    });
  }
  try {
    mkdirSync(dirname(file), { recursive: true });
  } catch (cause) {
    throw new FileUnusableError(`The directory of ${file} cannot be made.`, {
      details: { file },
      hint: 'Name a file in a local directory this process may write.',
      cause,
    });
  }
}

function configure(connection: DatabaseSync, { file, isReadOnly }: DatabaseOptions): void {
  if (!isReadOnly) {
    connection.exec(`PRAGMA page_size = ${pageBytes}`);
    const mode: unknown = connection.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
    const wanted = file === memoryFile ? 'memory' : 'wal';
    if (mode !== wanted) {
      throw new FileUnusableError(`The file ${file} cannot have a write-ahead file (journal mode ${String(mode)}).`, {
        details: { file, mode },
        hint: 'Put the file on a local file system; network file systems do not work.',
      });
    }
  }
  connection.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${isReadOnly ? readerCacheKib : cacheKib};
    PRAGMA wal_autocheckpoint = ${walCheckpointPages}; PRAGMA journal_size_limit = ${walBytesMax}`);
  const synchronous: unknown = connection.prepare('PRAGMA synchronous').get()?.['synchronous'];
  assert(synchronous === 2, 'writes are synchronised in full', { file, synchronous });
}

async function retryBusy<T>(attempt: () => T, busyMaxMs: number): Promise<T> {
  const deadline = performance.now() + busyMaxMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await sleep(busyRetryMinMs + Math.random() * (busyRetryMaxMs - busyRetryMinMs));
  }
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
