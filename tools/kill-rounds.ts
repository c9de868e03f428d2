/**
 * `npm run kill-rounds [-- --commits 2000000 --rounds 20 --seed 1]`: appends commits of the shop, kills the worker at random
 * moments, lets it catch up and compares every row with an independent fold of the commits. Exit code 1: a difference.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { openEmbedded } from 'tidemark/embedded';
import { eshopCommits } from '../examples/eshop/generator/eshop-commits.ts';
import { SeededRandom } from '../examples/eshop/generator/random.ts';
import { EshopModel } from '../test/support/eshop-model.ts';

const { values } = parseArgs({
  options: {
    commits: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
  },
});
const commits = Number(values.commits);
const rounds = Number(values.rounds);
const random = new SeededRandom(Number(values.seed));
const model = new EshopModel();

function* lines(): Generator<string> {
  for (const commit of eshopCommits({ commits, seed: Number(values.seed) })) {
    model.take(commit);
    yield JSON.stringify(commit);
  }
}

function startWorker(file: string, ...args: readonly string[]) {
  const cli = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts');
  return spawn(process.execPath, ['--conditions=tidemark-source', cli, 'run', ...args], {
    env: { ...process.env, TIDEMARK_EMBEDDED_FILE: file },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
}

async function killedAfter(file: string, ms: number): Promise<boolean> {
  const child = startWorker(file);
  child.stderr.resume();
  await sleep(ms);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return child.signalCode === 'SIGKILL';
}

async function differences(file: string): Promise<number> {
  await using reader = await openEmbedded({ file, role: 'reader' });
  let different = 0;
  for (const [name, expected] of Object.entries(model.rows())) {
    let found = 0;
    let afterId: string | undefined;
    for (;;) {
      const page = await reader.readModels.readRows(name, { afterId, limit: 1_000 });
      if (page.length === 0) break;
      found += page.length;
      different += page.filter(({ id, row }) => !isDeepStrictEqual({ ...row }, expected.get(id))).length;
      afterId = page.at(-1)?.id;
    }
    different += Math.abs(found - expected.size);
    console.log(`${name}: ${found} rows, ${expected.size} expected`);
  }
  return different;
}

const folder = await mkdtemp(join(tmpdir(), 'tidemark-kill-'));
try {
  const file = join(folder, 'shop.db');
  const startedMs = performance.now();
  await using appender = await openEmbedded({ file, role: 'appender' });
  const { appended } = await appender.append(lines());
  console.log(`${appended} commits appended in ${Math.round((performance.now() - startedMs) / 1000)} s`);
  let killed = 0;
  for (let round = 0; round < rounds; round += 1) {
    if (await killedAfter(file, 400 + random.next() * 9_000)) killed += 1;
  }
  console.log(`killed ${killed} times in mid-run`);
  const last = startWorker(file, '--until-caught-up');
  last.stderr.pipe(process.stderr);
  const [code] = (await once(last, 'exit')) as [number | null];
  const different = await differences(file);
  console.log(`last run ended with ${code}; ${different} rows differ`);
  process.exitCode = code === 0 && different === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true });
}
