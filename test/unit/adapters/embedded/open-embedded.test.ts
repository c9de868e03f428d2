import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, open, stat, symlink, writeFile } from 'node:fs/promises';
import { execPath } from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { type EmbeddedFile, openEmbedded } from '../../../../src/adapters/embedded/index.ts';
import { TidemarkError } from '../../../../src/runtime/errors.ts';
import { scratchDirectory } from './scratch-directory.ts';

const topic = 'wow.eshop.order.state';
const signal = new AbortController().signal;

function commit(version: number, id = 'O-1') {
  return {
    id: `${id}-${version}`,
    contextName: 'eshop',
    aggregateName: 'order',
    aggregateId: id,
    version,
    createTime: version,
    body: [{ id: 'e', name: 'n', bodyType: 'b', body: {} }],
    state: {},
  };
}

async function failure(promise: Promise<EmbeddedFile>): Promise<TidemarkError> {
  const result: unknown = await promise.catch((error: unknown) => error);
  if (!(result instanceof TidemarkError)) throw new Error('expected an error of the package', { cause: result });
  return result;
}

/** A process of its own that opens the file, runs `body` with it as `file`, and stays until it is killed. */
async function otherProcess(file: string, role: string, body = ''): Promise<AsyncDisposable & { child: ChildProcess }> {
  const adapter = new URL('../../../../src/adapters/embedded/index.ts', import.meta.url).href;
  const code = `
    import { openEmbedded } from ${JSON.stringify(adapter)};
    const file = await openEmbedded({ file: ${JSON.stringify(file)}, role: ${JSON.stringify(role)} });
    ${body}
    console.log('ready');
    setInterval(() => undefined, 1_000);`;
  const child = spawn(execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    child,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('opening the embedded file', () => {
  test('makes it with its directory, and finds everything again', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('a/b/data.db');
    const first = await openEmbedded({ file, role: 'follower' });
    const { identity } = await first.log.describe(topic);
    const position = await first.appendCommit(commit(1));
    await first.close();
    await first.close();
    await using second = await openEmbedded({ file, role: 'follower' });
    expect(await second.log.describe(topic)).toMatchObject({ identity });
    expect(await second.log.readAt(position)).toMatchObject({ key: 'O-1' });
  });

  test('gives each file a log of its own', async () => {
    await using one = await openEmbedded({ file: ':memory:', role: 'follower' });
    await using two = await openEmbedded({ file: ':memory:', role: 'follower' });
    expect((await one.log.describe(topic)).identity).not.toBe((await two.log.describe(topic)).identity);
  });

  test('refuses a second follower in the same process, and lets it in after the first one closed', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    const first = await openEmbedded({ file, role: 'follower' });
    expect(await failure(openEmbedded({ file, role: 'follower' }))).toMatchObject({ code: 'FILE_HELD' });
    await first.close();
    await using second = await openEmbedded({ file, role: 'follower' });
    expect(await second.checkpoints.list()).toEqual([]);
  });

  test('refuses a second follower that comes by a link', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    await using _ = await openEmbedded({ file, role: 'follower' });
    const link = directory.path('link.db');
    await symlink(file, link);
    expect(await failure(openEmbedded({ file: link, role: 'follower' }))).toMatchObject({ code: 'FILE_HELD' });
  });

  test('names pid and start of the follower that holds it, until that one is killed', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    const startedAfter = Date.now();
    await using other = await otherProcess(file, 'follower');
    const error = await failure(openEmbedded({ file, role: 'follower' }));
    expect(error).toMatchObject({ code: 'FILE_HELD', details: { file, pid: other.child.pid } });
    expect(error.message).toContain(`process ${other.child.pid}, started at `);
    expect(Date.parse(String(error.details['startedAt']))).toBeGreaterThanOrEqual(startedAfter - 1_000);
    other.child.kill('SIGKILL');
    await once(other.child, 'exit');
    await using mine = await openEmbedded({ file, role: 'follower' });
    expect(await mine.checkpoints.list()).toEqual([]);
  }, 20_000);

  test('lets other processes append beside a follower, which notices', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    await using follower = await openEmbedded({ file, role: 'follower' });
    const session = follower.log.open('s', [topic]);
    const assignments = session.assignments(signal)[Symbol.asyncIterator]();
    expect(await assignments.next()).toMatchObject({ value: { assigned: [], lost: [] } });
    const next = assignments.next();
    const append = `await file.append(${JSON.stringify([1, 2, 3].map((version) => JSON.stringify(commit(version))))});`;
    await using other = await otherProcess(file, 'appender', append);
    expect((await next).value).toMatchObject({ assigned: [0, 1, 2, 3].map((partition) => ({ topic, partition })) });
    const { partition } = await follower.appendCommit(commit(4));
    const from = { topic, partition, offset: 0 };
    const { records } = await session.pull(from, { records: 10, bytes: 1_000_000, waitMs: 0 }, signal);
    expect(records.map(({ offset }) => offset)).toEqual([0, 1, 2, 3]);
    expect(other.child.exitCode).toBeNull();
    await session.stop();
  }, 20_000);

  test('keeps what two processes append at once, each in order', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    await using mine = await openEmbedded({ file, role: 'appender' });
    const append = `
      setTimeout(async () => {
        for (let version = 1; version <= 50; version += 1) {
          await file.appendCommit({ ...${JSON.stringify(commit(1, 'theirs'))}, id: 't' + version, version });
        }
        await file.close();
        process.exit(0);
      });`;
    await using other = await otherProcess(file, 'appender', append);
    const exited = other.child.exitCode === null ? once(other.child, 'exit') : undefined;
    for (let version = 1; version <= 50; version += 1) await mine.appendCommit(commit(version, 'mine'));
    await exited;
    const { partitions } = await mine.log.describe(topic);
    expect(partitions.reduce((sum, { end }) => sum + end, 0)).toBe(100);
    await expect(mine.appendCommit(commit(52, 'theirs'))).rejects.toMatchObject({ details: { expected: 51 } });
  }, 20_000);

  test('to read takes what is there and writes nothing', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    const writer = await openEmbedded({ file, role: 'appender' });
    const position = await writer.appendCommit(commit(1));
    await using beside = await openEmbedded({ file, role: 'reader' });
    expect(await beside.log.readAt(position)).toBeDefined();
    await writer.close();
    await using after = await openEmbedded({ file, role: 'reader' });
    expect(await after.log.readAt(position)).toBeDefined();
    await expect(after.appendCommit(commit(2))).rejects.toMatchObject({ code: 'FILE_READ_ONLY' });
  });

  test('to read makes nothing', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('missing/data.db');
    expect(await failure(openEmbedded({ file, role: 'reader' }))).toMatchObject({ code: 'FILE_MISSING' });
    await expect(stat(directory.path('missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('opening what is no embedded file', () => {
  test('says that a newer version wrote it, and leaves it as it is', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('data.db');
    await (await openEmbedded({ file, role: 'appender' })).close();
    const database = new DatabaseSync(file);
    database.exec(`UPDATE tm_meta SET value = '99' WHERE key = 'schema'`);
    database.close();
    for (const role of ['follower', 'appender', 'reader'] as const) {
      const error = await failure(openEmbedded({ file, role }));
      expect(error).toMatchObject({ code: 'SCHEMA_NEWER', details: { schema: 99, known: 1 } });
      expect(error.hint).toContain('newer version');
    }
  });

  test.each(['follower', 'reader'] as const)('says that it is the database of something else (%s)', async (role) => {
    await using directory = await scratchDirectory();
    const file = directory.path('other.db');
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE theirs (x)');
    database.close();
    expect(await failure(openEmbedded({ file, role }))).toMatchObject({ code: 'FILE_FOREIGN' });
    const after = new DatabaseSync(file);
    expect(after.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'theirs' }]);
    after.close();
  });

  test('says that it is no database at all', async () => {
    await using directory = await scratchDirectory();
    const file = directory.path('text.db');
    await writeFile(file, 'this is a text file, not a database, and long enough to have a header\n'.repeat(50));
    const error = await failure(openEmbedded({ file, role: 'follower' }));
    expect(error).toMatchObject({ code: 'FILE_DAMAGED', details: { file } });
    expect(error.hint).toContain('copy');
  });

  test('says that its content is broken', async () => {
    await using directory = await scratchDirectory();
    const [whole, broken] = [directory.path('whole.db'), directory.path('broken.db')];
    const first = await openEmbedded({ file: whole, role: 'appender' });
    for (let version = 1; version <= 20; version += 1) {
      await first.appendCommit({ ...commit(version), state: { filler: 'x'.repeat(10_000) } });
    }
    await first.close();
    await copyFile(whole, broken);
    const { size } = await stat(broken);
    const handle = await open(broken, 'r+');
    await handle.write(Buffer.alloc(size - 8_192, 0x5a), 0, undefined, 8_192);
    await handle.close();
    expect(await failure(openEmbedded({ file: broken, role: 'follower' }))).toMatchObject({ code: 'FILE_DAMAGED' });
  });

  test('says that a directory, or a path below a file, cannot be used', async () => {
    await using directory = await scratchDirectory();
    await mkdir(directory.path('folder'));
    await writeFile(directory.path('file'), '');
    for (const file of [directory.path('folder'), directory.path('file/data.db')]) {
      const error = await failure(openEmbedded({ file, role: 'follower' }));
      expect(error).toMatchObject({ code: 'FILE_UNUSABLE', details: { file } });
      expect(error.hint).toContain('local directory');
    }
  });
});
