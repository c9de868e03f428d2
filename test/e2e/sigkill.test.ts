import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbedded } from 'tidemark/embedded';
import { expect, test } from 'vitest';
import { eshopCommits } from '../../examples/eshop/generator/eshop-commits.ts';
import { Workplace } from '../support/command-line.ts';
import { EshopModel, type EshopReadModel } from '../support/eshop-model.ts';

const ROUNDS = 20;
const COMMITS_PER_ROUND = 3_000;
const readModels: readonly EshopReadModel[] = ['order_summary', 'buyer_totals', 'order_payment', 'open_order_by_buyer'];

/** From before the first claim to well into the work of a round. */
function killAfterMs(round: number): number {
  return 150 + ((round * 137) % 900);
}

test('a worker killed in mid-run, twenty times, ends with the rows of one delivery', { timeout: 240_000 }, async () => {
  await using workplace = await Workplace.open();
  const file = join(workplace.folder, 'shop.db');
  const environment = { TIDEMARK_EMBEDDED_FILE: file };
  const commits = [...eshopCommits({ commits: ROUNDS * COMMITS_PER_ROUND, seed: 20 })];
  let killed = 0;

  for (let round = 0; round < ROUNDS; round += 1) {
    await using appender = await openEmbedded({ file, role: 'appender' });
    const some = commits.slice(round * COMMITS_PER_ROUND, (round + 1) * COMMITS_PER_ROUND);
    await appender.append(some.map((commit) => JSON.stringify(commit)));
    const running = workplace.start(['run'], { environment });
    await sleep(killAfterMs(round));
    running.child.kill('SIGKILL');
    const { signal } = await running.ended();
    if (signal === 'SIGKILL') killed += 1;
  }
  const caughtUp = await workplace.run(['run', '--until-caught-up'], { environment });

  expect(killed).toBe(ROUNDS);
  expect(caughtUp).toMatchObject({ code: 0 });
  const expected = new EshopModel().takeAll(commits).rows();
  await using reader = await openEmbedded({ file, role: 'reader' });
  for (const name of readModels) {
    const rows = await reader.readModels.readRows(name, { afterId: undefined, limit: 1_000_000 });
    expect(new Map(rows.map(({ id, row }) => [id, row]))).toEqual(expected[name]);
  }
  expect(await reader.ledger.list({}, 10)).toEqual([]);
});
