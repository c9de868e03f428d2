import { parseArgs } from 'node:util';
import { simulate } from './simulate.ts';

/*
 * npm run -s simulate -- --seed 42      one run, with its trace if it fails
 * npm run -s simulate -- --seeds 500    so many runs, from --from (default 1)
 * npm run -s simulate -- --minutes 10   as many as fit
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    from: { type: 'string', default: '1' },
  },
});

const first = Number(values.seed ?? values.from);
const last =
  values.seed !== undefined
    ? first
    : first + Number(values.seeds ?? (values.minutes === undefined ? 100 : Infinity)) - 1;
const untilMs = values.minutes === undefined ? Infinity : performance.now() + Number(values.minutes) * 60_000;
let runs = 0;
let published = 0;
const failed: number[] = [];
for (let seed = first; seed <= last && performance.now() < untilMs; seed += 1) {
  const result = await simulate({ seed });
  runs += 1;
  published += result.published;
  if (result.problems.length === 0) continue;
  failed.push(seed);
  if (values.seed !== undefined) console.log(result.trace.join('\n'));
  console.log(`seed ${seed}:\n  ${result.problems.slice(0, 10).join('\n  ')}`);
}
console.log(
  `${runs} runs, ${published} records, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(' ')}` : ''}`,
);
process.exitCode = failed.length > 0 ? 1 : 0;
