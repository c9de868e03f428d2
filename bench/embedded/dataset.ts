/** Fills a new file with commits of about 1 KB; each aggregate's versions stand `aggregates` records apart. */
import { argv, stdout } from 'node:process';
import { openEmbedded } from 'tidemark/embedded';
import { roundRobinCommits } from '../../examples/eshop/generator/round-robin-commits.ts';

const [, , file = '', commits = '', aggregates = ''] = argv;

function* lines(): Generator<string> {
  for (const commit of roundRobinCommits({ commits: Number(commits), aggregates: Number(aggregates), seed: 1 })) {
    yield JSON.stringify(commit);
  }
}

await using embedded = await openEmbedded({ file, role: 'appender' });
const startedMs = performance.now();
const { appended } = await embedded.append(lines());
stdout.write(`${JSON.stringify({ ms: performance.now() - startedMs, records: appended })}\n`);
