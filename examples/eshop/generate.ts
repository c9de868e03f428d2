/** Writes commits of the shop to standard output, one record a line, as `tidemark append` takes them. */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { CommitRecord } from 'tidemark';
import { eshopCommits } from './generator/eshop-commits.ts';
import { roundRobinCommits } from './generator/round-robin-commits.ts';

const usage = `Usage: node examples/eshop/generate.ts [--commits n] [--seed n] [--aggregates n]

  --commits n      how many commits (default 2000)
  --seed n         decides what they are (default 1)
  --aggregates n   only orders, this many, one commit of each in turn: for benchmarks
`;

const LINES_PER_WRITE = 500;

try {
  await write(commitsAskedFor(process.argv.slice(2)));
} catch (error) {
  // Whoever reads has seen enough: `| head`.
  if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exitCode = 2;
  }
}

function commitsAskedFor(args: readonly string[]): Iterable<CommitRecord> {
  const { values } = parseArgs({
    args: [...args],
    options: { commits: { type: 'string' }, seed: { type: 'string' }, aggregates: { type: 'string' } },
  });
  const commits = toCount('--commits', values.commits ?? '2000');
  const seed = toCount('--seed', values.seed ?? '1');
  if (values.aggregates === undefined) return eshopCommits({ commits, seed });
  return roundRobinCommits({ commits, seed, aggregates: toCount('--aggregates', values.aggregates) });
}

function toCount(flag: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`${flag}: expected a whole number from 1, got '${text}'`);
  return count;
}

async function write(commits: Iterable<CommitRecord>): Promise<void> {
  const failed = once(process.stdout, 'error').then(([error]: unknown[]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    const isTaken = process.stdout.write(lines.join(''));
    lines = [];
    if (!isTaken) await Promise.race([once(process.stdout, 'drain'), failed]);
  };
  for (const commit of commits) {
    lines.push(`${JSON.stringify(commit)}\n`);
    if (lines.length >= LINES_PER_WRITE) await flush();
  }
  await flush();
}
