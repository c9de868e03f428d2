import { AppendError } from '../../../log/append/append-error.ts';
import type { CommitIdentity } from '../../../log/append/appendable.ts';
import type { CommitCodec } from '../../../log/commit-codec.ts';
import { integerOf, oneRow, optionalIntegerOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { LogTables } from '../log/log-tables.ts';

type Aggregate = { readonly id: number; last: number };

/** What becomes of a commit in strict order. */
export type Verdict =
  | { readonly kind: 'next' }
  /** The same commit stands at this record already. */
  | { readonly kind: 'repeated'; readonly record: number };

type VersionsParts = { readonly database: Database; readonly tables: LogTables; readonly codec: CommitCodec };

const rememberedMax = 100_000;

/**
 * Which versions the aggregates of a topic have. Used inside transactions only; what it remembers of one is right in the
 * next, unless that one failed or another process wrote in between.
 */
export class CommitVersions {
  readonly #database: Database;
  readonly #tables: LogTables;
  readonly #codec: CommitCodec;
  readonly #aggregates = new Map<string, Aggregate>();
  #fileVersion = 0;

  constructor({ database, tables, codec }: VersionsParts) {
    this.#database = database;
    this.#tables = tables;
    this.#codec = codec;
  }

  /** At the beginning of each transaction. */
  begin(): void {
    const fileVersion = this.#database.version();
    if (fileVersion !== this.#fileVersion || this.#aggregates.size > rememberedMax) this.forget();
    this.#fileVersion = fileVersion;
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#aggregates.clear();
  }

  /** Throws `VERSION_CONFLICT` and `VERSION_GAP`, which name the line. */
  judge(topic: number, commit: CommitIdentity, line: number): Verdict {
    const aggregate = this.#aggregate(topic, commit);
    const expected = aggregate.last + 1;
    if (commit.version === expected) return { kind: 'next' };
    const stored = commit.version < expected ? this.#recordOf(aggregate, commit.version) : undefined;
    if (stored === undefined) {
      throw new AppendError(`${commit.refKey}: expected version ${expected}, got ${commit.version}`, {
        code: 'VERSION_GAP',
        line,
        details: { ref: commit.refKey, expected, got: commit.version },
        hint: 'Append the versions in order. A log of somebody else, gaps included, is mirrored with --as-is.',
      });
    }
    const storedId = this.#commitIdOf(stored);
    if (storedId === commit.id) return { kind: 'repeated', record: stored };
    throw new AppendError(`${commit.refKey} has another commit at version ${commit.version} already`, {
      code: 'VERSION_CONFLICT',
      line,
      details: { ref: commit.refKey, version: commit.version, commitId: commit.id, storedCommitId: storedId },
      hint: 'Two writers decided at once: load the aggregate again and decide anew.',
    });
  }

  /** Keeps that the version stands at this record; the first record of a version stays. */
  note(topic: number, commit: CommitIdentity, record: number): void {
    const aggregate = this.#aggregate(topic, commit);
    this.#database
      .statement('INSERT OR IGNORE INTO tm_version(aggregate, version, record) VALUES (?, ?, ?)')
      .run(aggregate.id, commit.version, record);
    aggregate.last = Math.max(aggregate.last, commit.version);
  }

  #aggregate(topic: number, { refKey }: CommitIdentity): Aggregate {
    const key = `${topic}:${refKey}`;
    let aggregate = this.#aggregates.get(key);
    if (aggregate === undefined) {
      aggregate = this.#find(topic, refKey) ?? this.#create(topic, refKey);
      this.#aggregates.set(key, aggregate);
    }
    return aggregate;
  }

  #find(topic: number, ref: string): Aggregate | undefined {
    const row = oneRow(
      this.#database.statement(
        `SELECT id, (SELECT max(version) FROM tm_version WHERE aggregate = a.id) FROM tm_aggregate a
         WHERE topic = ? AND ref = ?`,
      ),
      topic,
      ref,
    );
    return row && { id: integerOf(row[0]), last: optionalIntegerOf(row[1]) ?? 0 };
  }

  #create(topic: number, ref: string): Aggregate {
    const { lastInsertRowid } = this.#database
      .statement('INSERT INTO tm_aggregate(topic, ref) VALUES (?, ?)')
      .run(topic, ref);
    return { id: Number(lastInsertRowid), last: 0 };
  }

  #recordOf({ id }: Aggregate, version: number): number | undefined {
    const row = oneRow(
      this.#database.statement('SELECT record FROM tm_version WHERE aggregate = ? AND version = ?'),
      id,
      version,
    );
    return optionalIntegerOf(row?.[0]);
  }

  #commitIdOf(id: number): string | undefined {
    const record = this.#tables.recordById(id);
    const decoded = record && this.#codec.decode(record);
    return decoded?.kind === 'commit' ? decoded.commit.id : undefined;
  }
}
