/**
 * `npm run bench [-- --commits 200000 --aggregates 20000 --rounds 3 --memory]`: the worker beside the bound of the same
 * work, in turn, in one run. Each side is a process of its own; a result that is not right does not count.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

type Side = {
  readonly ms: number;
  readonly records: number;
  readonly rows?: number;
  readonly check?: number;
  readonly rssMb: number;
};

const { values } = parseArgs({
  options: {
    commits: { type: 'string', default: '200000' },
    aggregates: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    memory: { type: 'boolean', default: false },
  },
});
const commits = Number(values.commits);
const aggregates = Number(values.aggregates);
const rounds = Number(values.rounds);

function run(script: string, ...args: readonly string[]): Side {
  const path = join(import.meta.dirname, 'embedded', script);
  const out = execFileSync(process.execPath, ['--conditions=tidemark-source', path, ...args], { encoding: 'utf8' });
  return JSON.parse(out) as Side;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

function spread(numbers: readonly number[]): { readonly min: number; readonly median: number; readonly max: number } {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return { min: at(0), median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}

function row(name: string, numbers: readonly number[], digits: number): string {
  const { min, median, max } = spread(numbers);
  return `${name.padEnd(44)}${[min, median, max].map((number) => number.toFixed(digits).padStart(10)).join('')}`;
}

const rate = ({ records, ms }: Side): number => records / ms;

function expectRows({ rows, check, records }: Side, kind: 'rows' | 'totals'): void {
  // One row per aggregate with its last version, and these add up to the commits; over all buyers the orders are the aggregates.
  const isRight = kind === 'rows' ? rows === aggregates && check === commits : check === aggregates;
  if (isRight && records === commits) return;
  throw new Error(`The ${kind} projection is wrong: ${JSON.stringify({ rows, check, records })}`);
}

const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
try {
  const file = join(folder, 'bench.db');
  console.log(
    `commit ${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' (dirty)'}, node ${process.version},`,
  );
  console.log(
    `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB; ${commits} commits over ${aggregates} aggregates, seed 1`,
  );
  const filled = run('dataset.ts', file, values.commits, values.aggregates);
  console.log(`append (strict, one pass): ${rate(filled).toFixed(1)} k/s\n`);
  const raw: Side[] = [];
  const rows: Side[] = [];
  const totals: Side[] = [];
  for (let round = 0; round < rounds; round += 1) {
    raw.push(run('raw-loop.ts', file));
    rows.push(run('follow.ts', file, 'rows', String(round)));
    totals.push(run('follow.ts', file, 'totals', String(round)));
    expectRows(rows.at(-1) as Side, 'rows');
    expectRows(totals.at(-1) as Side, 'totals');
  }
  console.log(`${''.padEnd(44)}${['min', 'median', 'max'].map((name) => name.padStart(10)).join('')}`);
  console.log(row('raw: read + JSON.parse, k/s', raw.map(rate), 1));
  console.log(row('follow, rows, k/s', rows.map(rate), 1));
  console.log(row('follow, totals, k/s', totals.map(rate), 1));
  console.log(
    row(
      'rows : raw (target ≥ 0.5)',
      rows.map((side, index) => rate(side) / rate(raw[index] as Side)),
      2,
    ),
  );
  console.log(
    row(
      'totals : rows (target ≥ 0.5)',
      totals.map((side, index) => rate(side) / rate(rows[index] as Side)),
      2,
    ),
  );
  console.log(
    row(
      'peak memory, rows, MB',
      rows.map(({ rssMb }) => rssMb),
      0,
    ),
  );
  if (values.memory) {
    const large = join(folder, 'large.db');
    run('dataset.ts', large, String(commits * 10), values.aggregates);
    const { rssMb } = run('follow.ts', large, 'rows', '0');
    const small = spread(rows.map((side) => side.rssMb)).median;
    console.log(
      `peak memory at ${commits * 10} commits: ${rssMb.toFixed(0)} MB, ${(rssMb / small).toFixed(2)} × (target ≤ 1.25)`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
