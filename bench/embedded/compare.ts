import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printHead, printRow, rate, ratios, runScript, type Side, spread } from '../report.ts';

export type EmbeddedOptions = {
  readonly commits: number;
  readonly aggregates: number;
  readonly rounds: number;
  /** Measures the peak at ten times the commits, too. */
  readonly withMemory: boolean;
};

/** The worker on the embedded file beside reading the same file and parsing its JSON. */
export function compareEmbedded(options: EmbeddedOptions): void {
  const { commits, aggregates, rounds } = options;
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
  try {
    const file = join(folder, 'bench.db');
    console.log(`\nEmbedded file: ${commits} commits over ${aggregates} aggregates, seed 1`);
    const filled = run('dataset.ts', file, String(commits), String(aggregates));
    console.log(`append (strict, one pass): ${rate(filled).toFixed(1)} k/s\n`);
    const raw: Side[] = [];
    const rows: Side[] = [];
    const totals: Side[] = [];
    for (let round = 0; round < rounds; round += 1) {
      raw.push(run('raw-loop.ts', file));
      rows.push(expectRight(run('follow.ts', file, 'rows', String(round)), 'rows', options));
      totals.push(expectRight(run('follow.ts', file, 'totals', String(round)), 'totals', options));
    }
    printHead();
    printRow('raw: read + JSON.parse, k/s', raw.map(rate), 1);
    printRow('follow, rows, k/s', rows.map(rate), 1);
    printRow('follow, totals, k/s', totals.map(rate), 1);
    printRow('rows : raw (target ≥ 0.5)', ratios(rows, raw), 2);
    printRow('totals : rows (target ≥ 0.5)', ratios(totals, rows), 2);
    const peaks = rows.map(({ rssMb }) => rssMb);
    printRow('peak memory, rows, MB', peaks, 0);
    if (options.withMemory) compareMemory(folder, spread(peaks).median, options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function compareMemory(folder: string, smallMb: number, { commits, aggregates }: EmbeddedOptions): void {
  const large = join(folder, 'large.db');
  run('dataset.ts', large, String(commits * 10), String(aggregates));
  const { rssMb } = run('follow.ts', large, 'rows', '0');
  console.log(
    `peak memory at ${commits * 10} commits: ${rssMb.toFixed(0)} MB, ${(rssMb / smallMb).toFixed(2)} × (target ≤ 1.25)`,
  );
}

function run(script: string, ...args: readonly string[]): Side {
  return runScript(join(import.meta.dirname, script), args) as Side;
}

/** A result that is not right does not count. */
function expectRight(side: Side, kind: 'rows' | 'totals', { commits, aggregates }: EmbeddedOptions): Side {
  const { rows, check, records } = side;
  // One row per aggregate with its last version, and these add up to the commits; over all buyers the orders are the aggregates.
  const isRight = kind === 'rows' ? rows === aggregates && check === commits : check === aggregates;
  if (isRight && records === commits) return side;
  throw new Error(`The ${kind} projection is wrong: ${JSON.stringify({ rows, check, records })}`);
}
