import { describe, expect, test, vi } from 'vitest';
import { Database } from '../../../../../src/adapters/embedded/database/database.ts';
import { openEmbedded } from '../../../../../src/adapters/embedded/index.ts';
import { EmbeddedLogSession } from '../../../../../src/adapters/embedded/log/embedded-log-session.ts';
import { LogTables } from '../../../../../src/adapters/embedded/log/log-tables.ts';
import { ReadAhead } from '../../../../../src/adapters/embedded/log/read-ahead.ts';
import { type PageRequest, readPage } from '../../../../../src/adapters/embedded/log/record-page.ts';
import { scratchDirectory } from '../scratch-directory.ts';

const signal = new AbortController().signal;
const RECORDS = 1_000;

/** A log of one partition; some of its values are not text, and some are long. */
async function fill(file: string): Promise<void> {
  await using embedded = await openEmbedded({ file, role: 'appender', partitions: 1 });
  await embedded.appendRecords(
    Array.from({ length: RECORDS }, (_, n) => ({
      topic: 't',
      key: n % 3 === 0 ? undefined : `k${n}`,
      value: n % 5 === 0 ? Buffer.from([0xff, n % 256]) : `${n} `.repeat(n % 7 === 0 ? 5_000 : 1),
      headers: n % 2 === 0 ? [] : [['n', String(n)] as const],
      timestamp: n,
    })),
  );
}

const page = (offset: number): PageRequest => ({ stream: 1, offset, records: 100, bytes: 1_000_000 });

/** Asks until the thread is up. */
async function order(ahead: ReadAhead, request: PageRequest) {
  const asked = (): { readonly rows: ReturnType<ReadAhead['order']> } | undefined => {
    const rows = ahead.order(request);
    return rows && { rows };
  };
  return (await vi.waitUntil(asked, { timeout: 20_000, interval: 5 })).rows;
}

describe('reading ahead', () => {
  test('gives the pages that the file has', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    await fill(file);
    const ahead = new ReadAhead(file);
    const database = await Database.open({ file, isReadOnly: true, busyMaxMs: 1_000 });
    expect(await order(ahead, page(0))).toEqual(readPage(database, page(0)));
    const pages = await Promise.all([ahead.order(page(950)), ahead.order(page(7)), ahead.order(page(5_000))]);
    expect(pages).toEqual([readPage(database, page(950)), readPage(database, page(7)), []]);
    await ahead.close();
    expect(ahead.order(page(0))).toBeUndefined();
    await ahead.close();
    database.close();
  });

  test('a session that is far behind gives each record once, in order, wherever it starts anew', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    await fill(file);
    const readAhead = new ReadAhead(file);
    await order(readAhead, page(0));
    const ordered = vi.spyOn(readAhead, 'order');
    const database = await Database.open({ file, isReadOnly: true, busyMaxMs: 1_000 });
    const tables = new LogTables(database);
    const stream = tables.streamOf({ topic: 't', partition: 0 });
    const all = stream && tables.page(stream, 0, { records: RECORDS, bytes: Number.MAX_SAFE_INTEGER });
    const session = new EmbeddedLogSession({
      tables,
      changes: database.changes,
      readAhead,
      subscription: 'S.on',
      topics: ['t'],
    });
    const read = async (offset: number, records: number) =>
      session.pull({ topic: 't', partition: 0, offset }, { records, bytes: 100_000, waitMs: 0 }, signal);
    for (const start of [0, 500, 500, 3]) {
      const records = [];
      for (let offset = start; offset < RECORDS; ) {
        const batch = await read(offset, 10);
        expect(batch.nextOffset).toBe(offset + batch.records.length);
        records.push(...batch.records);
        offset = start === 500 && records.length === 30 ? RECORDS : batch.nextOffset;
      }
      expect(records).toEqual(all?.slice(start, start + records.length));
    }
    // A page that was ordered with more records than this one may have is not for it.
    await read(0, 20);
    expect((await read(20, 5)).records).toHaveLength(5);
    expect(ordered.mock.results.filter(({ value }) => value !== undefined).length).toBeGreaterThan(100);
    await readAhead.close();
    database.close();
  });

  test('leaves it to others where the file cannot be read, or is in memory', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    (await Database.open({ file, isReadOnly: false, busyMaxMs: 1_000 })).close();
    const ahead = new ReadAhead(file);
    // There is no log in it: the thread ends over the first page.
    expect(await order(ahead, page(0))).toBeUndefined();
    expect(ahead.order(page(0))).toBeUndefined();
    await ahead.close();
    expect(new ReadAhead(':memory:').order(page(0))).toBeUndefined();
  });

  test('answers those who wait when it ends', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    await fill(file);
    const ahead = new ReadAhead(file);
    await order(ahead, page(0));
    const waiting = ahead.order(page(1));
    await ahead.close();
    // Whichever came first; it is over in any case.
    expect([100, undefined]).toContain((await waiting)?.length);
  });
});
