import type { CheckpointStore } from '../../checkpoints/checkpoint-store.ts';
import type { FailureLedger } from '../../failures/failure-ledger.ts';
import type { AppendOptions, AppendResult } from '../../log/append/append-options.ts';
import type { TopicOf } from '../../log/append/appendable.ts';
import type { CommitCodec } from '../../log/commit-codec.ts';
import { jsonCommitCodec } from '../../log/json-commit-codec.ts';
import type { LogSource } from '../../log/log-source.ts';
import type { Position } from '../../log/position.ts';
import type { ReadModelStore } from '../../read-models/read-model-store.ts';
import { assert } from '../../runtime/assert.ts';
import type { Clock } from '../../runtime/clock.ts';
import { EmbeddedAppender, type ForeignRecord } from './append/embedded-appender.ts';
import { CheckpointRows } from './checkpoint-rows.ts';
import { Database, type FileSizes } from './database/database.ts';
import { type FollowerLock, lockAsFollower } from './database/follower-lock.ts';
import { migrate, readSchema } from './database/schema.ts';
import { EmbeddedCheckpointStore } from './embedded-checkpoint-store.ts';
import { EmbeddedFailureLedger } from './failures/embedded-failure-ledger.ts';
import { LedgerRows } from './failures/ledger-rows.ts';
import { EmbeddedLogSource } from './log/embedded-log-source.ts';
import { LogTables } from './log/log-tables.ts';
import { ReadAhead } from './log/read-ahead.ts';
import { EmbeddedReadModelStore } from './read-models/embedded-read-model-store.ts';

/**
 * - `follower`: runs subscriptions. One process at a time; another one is refused.
 * - `appender`: writes without following: appends, resets. Any number of processes, also beside a follower.
 * - `reader`: only reads; the file must exist.
 */
export type EmbeddedRole = 'follower' | 'appender' | 'reader';

export type EmbeddedOptions = {
  /** A path, or `:memory:` for a file that is gone when it is closed. Its directory is made. */
  readonly file: string;
  readonly role: EmbeddedRole;
  /** Partitions of topics that do not exist yet; default 4. */
  readonly partitions?: number;
  /** The store's clock: stamps what is saved. Default: the machine's. */
  readonly clock?: Pick<Clock, 'nowMs'>;
  /** Decides what a commit is when records are appended; default: JSON with plain numbers. */
  readonly codec?: CommitCodec;
  /** How long a write waits for other processes before `UNAVAILABLE`, milliseconds; default 10 s. */
  readonly busyMaxMs?: number;
};

/** All ports on one SQLite file, and appending to its log. */
export interface EmbeddedFile extends AsyncDisposable {
  readonly log: LogSource;
  readonly checkpoints: CheckpointStore;
  readonly readModels: ReadModelStore;
  readonly ledger: FailureLedger;
  /**
   * Appends lines, each a commit record or an envelope around one, to the log. In strict order (the default) each
   * aggregate's versions must follow each other: the same commit again is a no-op, counted as `repeated`. Up to 10,000
   * lines (and 256 MiB) are stored whole or not at all, longer inputs in pieces. What is stored is durable, and followers
   * in any process see it. Throws `AppendError` (`BAD_RECORD`, `VERSION_CONFLICT`, `VERSION_GAP`) with the line and the
   * last line that is stored; `UnavailableError`.
   */
  append(lines: AsyncIterable<string> | Iterable<string>, options?: AppendOptions): Promise<AppendResult>;
  /** Appends one commit record in strict order, and gives its position; the same commit again gives the first one's. */
  appendCommit(record: object, options?: { readonly topicOf?: TopicOf }): Promise<Position>;
  /** Stores records of another log as they are, all or none, and gives their positions. */
  appendRecords(records: Iterable<ForeignRecord>): Promise<readonly Position[]>;
  sizes(): FileSizes;
  /** Ends all waiting and gives the file back. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the embedded file, and makes it unless it is opened to read. Throws `FILE_HELD` (another process follows it),
 * `SCHEMA_NEWER`, `FILE_FOREIGN`, `FILE_MISSING`, `FILE_READ_ONLY`, `FILE_DAMAGED`, `FILE_UNUSABLE`, `UNAVAILABLE`.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedFile> {
  const { file, role, partitions = 4, clock, codec = jsonCommitCodec(), busyMaxMs = 10_000 } = options;
  assert(Number.isInteger(partitions) && partitions >= 1 && partitions <= 1_000, 'a topic has 1 to 1,000 partitions', {
    partitions,
  });
  const nowMs = clock === undefined ? Date.now : () => clock.nowMs();
  const database = await Database.open({ file, isReadOnly: role === 'reader', busyMaxMs });
  let lock: FollowerLock | undefined;
  try {
    const { incarnation } = role === 'reader' ? readSchema(database) : await migrate(database);
    if (role === 'follower') lock = await lockAsFollower(database, nowMs());
    return compose({ database, incarnation, partitions, nowMs, codec, lock });
  } catch (error) {
    lock?.release();
    database.close();
    throw error;
  }
}

type Parts = {
  readonly database: Database;
  readonly incarnation: string;
  readonly partitions: number;
  readonly nowMs: () => number;
  readonly codec: CommitCodec;
  readonly lock: FollowerLock | undefined;
};

function compose({ database, incarnation, partitions, nowMs, codec, lock }: Parts): EmbeddedFile {
  const tables = new LogTables(database);
  const appender = new EmbeddedAppender({ database, tables, codec, partitions, nowMs });
  const readAhead = new ReadAhead(database.file);
  const close = async (): Promise<void> => {
    // Before the connection that writes: the last one to close tidies up.
    await readAhead.close();
    database.close();
    lock?.release();
  };
  return {
    log: new EmbeddedLogSource({ tables, changes: database.changes, readAhead, incarnation }),
    checkpoints: new EmbeddedCheckpointStore(database, nowMs),
    readModels: new EmbeddedReadModelStore({
      database,
      checkpoints: new CheckpointRows(database, nowMs),
      ledger: new LedgerRows(database),
    }),
    ledger: new EmbeddedFailureLedger(database),
    append: (lines, options) => appender.append(lines, options),
    appendCommit: async (record, options = {}) => {
      const { last } = await appender.append([JSON.stringify(record)], options);
      assert(last !== undefined, 'a commit that was appended has a position');
      return last;
    },
    appendRecords: (records) => appender.appendRecords(records),
    sizes: () => database.sizes(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
