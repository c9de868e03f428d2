import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { allRows, integerOf, oneRow } from '../../../../../src/adapters/embedded/database/columns.ts';
import { Database } from '../../../../../src/adapters/embedded/database/database.ts';
import { scratchDirectory } from '../scratch-directory.ts';

async function opened(file: string, busyMaxMs = 1_000): Promise<Database & Disposable> {
  const database = await Database.open({ file, isReadOnly: false, busyMaxMs });
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}

async function withTable(file: string): Promise<Database & Disposable> {
  const database = await opened(file);
  await database.write(() => database.define('CREATE TABLE t (n INTEGER, filler)'));
  return database;
}

function insert(database: Database, n: number, filler = ''): void {
  database.statement('INSERT INTO t VALUES (?, ?)').run(n, filler);
}

function numbers(database: Database): readonly number[] {
  return database.read(() => allRows(database.statement('SELECT n FROM t ORDER BY n')).map(([n]) => integerOf(n)));
}

describe('a database', () => {
  test('writes ahead and synchronises in full', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('deep/er/data.db');
    using database = await withTable(file);
    const pragma = (name: string) => database.read(() => oneRow(database.statement(`PRAGMA ${name}`))?.[0]);
    expect(['journal_mode', 'synchronous'].map(pragma)).toEqual(['wal', 2]);
    expect(database.sizes()).toEqual({ file: statSync(file).size, writeAhead: statSync(`${file}-wal`).size });
  });

  test('keeps nothing of a write that throws', async () => {
    using database = await withTable(':memory:');
    const thrown = new Error('no');
    const failing = database.write(() => {
      insert(database, 1);
      throw thrown;
    });
    await expect(failing).rejects.toBe(thrown);
    expect(numbers(database)).toEqual([]);
    await database.write(() => insert(database, 2));
    expect(numbers(database)).toEqual([2]);
  });

  test('keeps nothing of a write whose result is not to be kept', async () => {
    using database = await withTable(':memory:');
    const result = await database.write(
      () => {
        insert(database, 1);
        return 'refused';
      },
      (kind) => kind !== 'refused',
    );
    expect([result, numbers(database)]).toEqual(['refused', []]);
  });

  test('waits for the transaction of somebody else without blocking', async () => {
    await using directory = await scratchDirectory();
    using database = await withTable(directory.path('data.db'));
    const other = new DatabaseSync(database.file);
    other.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (1, NULL)');
    let turns = 0;
    const writing = database.write(() => insert(database, 2));
    while (turns < 3) {
      await sleep(10);
      turns += 1;
    }
    other.exec('COMMIT');
    await writing;
    expect(numbers(database)).toEqual([1, 2]);
    other.close();
  });

  test('says that it is unavailable when somebody else holds it too long, and goes on later', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    (await withTable(file)).close();
    using database = await opened(file, 30);
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(database.write(() => insert(database, 1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    other.exec('ROLLBACK');
    other.close();
    await database.write(() => insert(database, 1));
    expect(numbers(database)).toEqual([1]);
  });

  test('says that it is unavailable when the disk is full, keeps nothing, and goes on when there is room', async () => {
    await using directory = await scratchDirectory();
    using database = await withTable(directory.path('data.db'));
    await database.write(() => insert(database, 1));
    const limit = (pages: number) => database.read(() => database.statement(`PRAGMA max_page_count = ${pages}`).all());
    limit(10);
    const writing = database.write(() => {
      insert(database, 2);
      insert(database, 3, 'x'.repeat(1_000_000));
    });
    await expect(writing).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `The disk of ${database.file} is full.`,
    });
    expect(numbers(database)).toEqual([1]);
    limit(1_000_000);
    await database.write(() => insert(database, 3, 'x'.repeat(1_000_000)));
    expect(numbers(database)).toEqual([1, 3]);
  });

  test('tells the writes of others from its own', async () => {
    await using directory = await scratchDirectory();
    using database = await withTable(directory.path('data.db'));
    using other = await opened(database.file);
    const before = database.version();
    await database.write(() => insert(database, 1));
    expect(database.version()).toBe(before);
    await other.write(() => insert(other, 2));
    expect(database.version()).not.toBe(before);
  });

  test('empties its write-ahead file once nothing was written for five seconds', async () => {
    await using directory = await scratchDirectory();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      using database = await withTable(directory.path('data.db'));
      await database.write(() => insert(database, 1, 'x'.repeat(100_000)));
      await vi.advanceTimersByTimeAsync(3_000);
      await database.write(() => insert(database, 2));
      await vi.advanceTimersByTimeAsync(4_900);
      expect(database.sizes().file).toBeLessThan(100_000);
      await vi.advanceTimersByTimeAsync(200);
      expect(database.sizes().file).toBeGreaterThan(100_000);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is unavailable once it is closed, and closes twice', async () => {
    const database = await withTable(':memory:');
    database.close();
    database.close();
    expect(() => numbers(database)).toThrow('The file :memory: is closed.');
    await expect(database.write(() => insert(database, 1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
