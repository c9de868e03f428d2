/** Fills two topics: the first half of the commits in one, the second half, of the same aggregates, in the other. */
import { argv, stdout } from 'node:process';
import { silentLogger } from 'tidemark';
import { openKafkaLog } from 'tidemark/kafka';
import { nodeRuntime } from 'tidemark/node';
import { roundRobinCommits } from '../../examples/eshop/generator/round-robin-commits.ts';

const [, , brokers = '', first = '', second = '', commits = '', aggregates = ''] = argv;
const half = Number(commits);
const all = roundRobinCommits({ commits: 2 * half, aggregates: Number(aggregates), seed: 1 });

function* lines(count: number): Generator<string> {
  for (let n = 0; n < count; n += 1) {
    const { value } = all.next();
    if (value !== undefined) yield JSON.stringify(value);
  }
}

await using log = openKafkaLog({ brokers: brokers.split(','), clientId: 'bench', runtime: nodeRuntime(silentLogger) });
await log.ensureTopics([first, second], { partitions: 4 });
const startedMs = performance.now();
for (const topic of [first, second]) await log.append(lines(half), { topicOf: () => topic });
stdout.write(`${JSON.stringify({ ms: performance.now() - startedMs, records: 2 * half })}\n`);
