import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CommitRecord, Projection, ReadModel } from 'tidemark';
import { projectionSpec } from 'tidemark/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goldenRecords } from '../support/golden-records.ts';
import { textFiles } from '../support/repository.ts';

const root = join(import.meta.dirname, '..', '..');
/** Inside the repository, where the package finds itself by name. */
const folder = join(root, '.cache', 'docs');
const run = promisify(execFile);

type Block = { readonly name: string; readonly code: string };

function blocksOf(path: string, text: string): readonly Block[] {
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ''], index) => ({
    name: `${path.replaceAll(/\W/g, '-')}-${index + 1}.ts`,
    code,
  }));
}

const blocks = textFiles()
  .filter(({ path }) => /^(README\.md|docs\/.*\.md)$/.test(path))
  .flatMap(({ path, text }) => blocksOf(path, text));

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { name, code } of blocks) await writeFile(join(folder, name), code);
});

afterAll(() => rm(folder, { recursive: true }));

describe('the code of README and docs', () => {
  test('is there', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(2);
  });

  test('has no type error', async () => {
    const tsconfig = { extends: '../../tsconfig.json', include: ['*.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await run(process.execPath, [compiler, '-p', folder]);
    expect(stdout).toBe('');
  });

  test.each(blocks)('runs: $name', async ({ name }) => {
    const args = ['--conditions=tidemark-source', join(folder, name)];
    expect(await run(process.execPath, args)).toEqual({ stdout: '', stderr: '' });
  });
});

type Quickstart = { readonly orderSummaryProjection: Projection; readonly OrderSummaries: ReadModel };

test("the README's quickstart projects a commit of the format it is for", async () => {
  const [quickstart] = blocks;
  const app = (await import(join(folder, quickstart?.name ?? ''))) as Quickstart;
  const [record] = goldenRecords();
  const genuine = JSON.parse(String(record?.value)) as CommitRecord;
  const order = { ...genuine, contextName: 'eshop', aggregateName: 'order', state: { status: 'PAID', totalAmount: 3 } };
  const spec = projectionSpec(app.orderSummaryProjection).whenCommit(order);
  await spec.expectNoError();
  const { aggregateId, ownerId, createTime } = genuine;
  expect(await spec.rows(app.OrderSummaries)).toEqual([
    {
      id: `(0)/${aggregateId}`,
      row: { orderId: aggregateId, buyerId: ownerId, status: 'PAID', updatedAt: createTime },
    },
  ]);
});
