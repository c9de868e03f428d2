import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { execPath } from 'node:process';

/** What one side of a comparison prints. */
export type Side = {
  readonly ms: number;
  readonly records: number;
  readonly rows?: number;
  readonly check?: number;
  readonly rssMb: number;
};

/** Runs a script as a process of its own, and reads the one line of JSON that it prints. */
export function runScript(path: string, args: readonly string[]): unknown {
  const out = execFileSync(execPath, ['--conditions=tidemark-source', path, ...args], { encoding: 'utf8' });
  return JSON.parse(out.trim().split('\n').at(-1) ?? '');
}

export const rate = ({ records, ms }: Side): number => records / ms;

/** Round by round. */
export function ratios(sides: readonly Side[], rivals: readonly Side[]): readonly number[] {
  return sides.map((side, index) => rate(side) / rate(rivals[index] ?? side));
}

export function spread(numbers: readonly number[]): {
  readonly min: number;
  readonly median: number;
  readonly max: number;
} {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return { min: at(0), median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}

export function printHead(): void {
  console.log(`${''.padEnd(52)}${['min', 'median', 'max'].map((name) => name.padStart(10)).join('')}`);
}

export function printRow(name: string, numbers: readonly number[], digits: number): void {
  const { min, median, max } = spread(numbers);
  console.log(`${name.padEnd(52)}${[min, median, max].map((number) => number.toFixed(digits).padStart(10)).join('')}`);
}

/** What the numbers were measured on. */
export function printProvenance(): void {
  const isDirty = git('status', '--porcelain') !== '';
  console.log(`commit ${git('rev-parse', '--short', 'HEAD')}${isDirty ? ' (dirty)' : ''}, node ${process.version}`);
  console.log(`${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB`);
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
