import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitRecord } from 'tidemark';
import { type EmbeddedFile, openEmbedded } from 'tidemark/embedded';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eshopCommits } from '../../examples/eshop/generator/eshop-commits.ts';
import { EshopModel, type EshopReadModel } from '../support/eshop-model.ts';

const root = join(import.meta.dirname, '..', '..');
const readModels: readonly EshopReadModel[] = ['order_summary', 'buyer_totals', 'order_payment', 'open_order_by_buyer'];

/** The demo appends five commits a second. */
const SOME_COMMITS_MS = 1_000;

let folder: string;
let file: string;
const running = new Set<ChildProcess>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-demo-'));
  file = join(folder, 'new', 'demo.db');
});

afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
  await rm(folder, { recursive: true, force: true });
});

type Ended = { readonly code: number | null; readonly output: string; readonly errors: string };

function start(script: string, args: readonly string[]) {
  const child = spawn(process.execPath, ['--conditions=tidemark-source', join('examples/eshop', script), ...args], {
    cwd: root,
    env: { ...process.env, TIDEMARK_EMBEDDED_FILE: file },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  return child;
}

async function ended(child: ReturnType<typeof start>): Promise<Ended> {
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  running.delete(child);
  return { code: child.exitCode, output, errors };
}

function run(script: string, ...args: readonly string[]): Promise<Ended> {
  return ended(start(script, args));
}

/** Reads on while the process runs, until it has said `words`. */
async function said(child: ReturnType<typeof start>, words: string): Promise<void> {
  let output = '';
  child.stdout.setEncoding('utf8');
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes(words)) return;
  }
  throw new Error(`The process ended without saying '${words}':\n${output}`);
}

async function commitsIn({ log }: EmbeddedFile): Promise<readonly CommitRecord[]> {
  const commits: CommitRecord[] = [];
  const signal = new AbortController().signal;
  for (const aggregate of ['order', 'payment', 'buyer', 'brand']) {
    const topic = `wow.eshop.${aggregate}.state`;
    const session = log.open('test', [topic]);
    for (const { partition, end } of (await log.describe(topic)).partitions) {
      const limits = { records: 100_000, bytes: 1e9, waitMs: 0 };
      const { records } = await session.pull({ topic, partition, offset: 0 }, limits, signal);
      expect(records).toHaveLength(end);
      commits.push(...records.map(({ value }): CommitRecord => JSON.parse(String(value))));
    }
    await session.stop();
  }
  return commits;
}

/** The commits of the file, after a check that its rows are what they must give. */
async function checkedCommits(): Promise<readonly CommitRecord[]> {
  await using opened = await openEmbedded({ file, role: 'reader' });
  const commits = await commitsIn(opened);
  const expected = new EshopModel().takeAll(commits).rows();
  for (const model of readModels) {
    const rows = await opened.readModels.readRows(model, { afterId: undefined, limit: 100_000 });
    expect(new Map(rows.map(({ id, row }) => [id, row]))).toEqual(expected[model]);
    expect(rows.length).toBeGreaterThan(10);
  }
  return commits;
}

describe('the demo', () => {
  test('appends its sample to a new file, projects it, shows it and ends', async () => {
    const { code, output, errors } = await run('start.ts', '--until-caught-up');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toMatch(/OrderSummaryProjection\.onEvent +wow\.eshop\.order\.state( +\d+){4} +0 +0 +at the head/);
    for (const model of readModels) expect(output).toMatch(new RegExp(`^${model}, \\d+ rows:$`, 'm'));
    expect(output).toContain('acme/order-000001');
    expect(await checkedCommits()).toHaveLength(2_000);
  });

  test('leaves a file that it finds as it is, and begins anew when asked', async () => {
    await run('start.ts', '--until-caught-up');
    const again = await run('start.ts', '--until-caught-up');
    expect(again).toMatchObject({ code: 0, errors: '' });
    expect(again.output).toContain('holds 2,000 commits');
    const fresh = await run('start.ts', '--until-caught-up', '--fresh');
    expect(fresh).toMatchObject({ code: 0, errors: '' });
    expect(fresh.output).toContain('is new: 2,000 commits');
    await checkedCommits();
  });

  test.each([
    ['SIGTERM', 'appended, the last one'],
    ['SIGINT', 'Ctrl+C ends it'],
  ] as const)('follows what is appended until %s, then ends well', async (signal, words) => {
    const child = start('start.ts', []);
    await said(child, words);
    await sleep(SOME_COMMITS_MS);
    const end = ended(child);
    child.kill(signal);
    expect(await end).toMatchObject({ code: 0, errors: '' });
    expect((await run('start.ts', '--until-caught-up')).code).toBe(0);
    expect((await checkedCommits()).length).toBeGreaterThan(2_002);
  });

  test('goes on with orders of its own when it is started again, also after a crash', async () => {
    for (let round = 0; round < 2; round += 1) {
      const child = start('start.ts', []);
      await said(child, 'Ctrl+C ends it');
      await sleep(SOME_COMMITS_MS);
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    expect((await run('start.ts', '--until-caught-up')).code).toBe(0);
    expect((await checkedCommits()).length).toBeGreaterThan(2_005);
  });

  test('is refused beside a worker that follows the file, even to empty it', async () => {
    await using held = await openEmbedded({ file, role: 'follower' });
    for (const flags of [[], ['--fresh']]) {
      const { code, errors } = await run('start.ts', ...flags);
      expect(code).toBe(5);
      expect(errors).toContain(`followed by process ${process.pid}`);
    }
    expect(held.sizes().file).toBeGreaterThan(0);
  });

  test('names a flag that it does not know', async () => {
    const { code, output, errors } = await run('start.ts', '--frehs');
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toContain("'--frehs'");
    expect(errors).toContain('--until-caught-up');
  });
});

describe('the generator', () => {
  test('writes one commit a line', async () => {
    const { code, output } = await run('generate.ts', '--commits', '700', '--seed', '9');
    expect(code).toBe(0);
    const lines = output.trimEnd().split('\n');
    expect(lines).toEqual([...eshopCommits({ commits: 700, seed: 9 })].map((commit) => JSON.stringify(commit)));
  });

  test('ends quietly when nobody reads on', async () => {
    const child = start('generate.ts', ['--commits', '1000000']);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
  });

  test.each([
    ['an unknown flag', ['--comits', '3'], '--comits'],
    ['a count that is none', ['--commits', 'many'], "--commits: expected a whole number from 1, got 'many'"],
  ])('refuses %s', async (_what, args, message) => {
    const { code, output, errors } = await run('generate.ts', ...args);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toContain(message);
  });
});
