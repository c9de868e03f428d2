/**
 * `npm run bench [-- --on embedded|servers --commits 200000 --aggregates 20000 --rounds 3 --memory]`: the worker beside the
 * bound of the same work and beside rivals, in turn, in one run. Each side is a process of its own; a result that is not
 * right does not count. On real servers it needs what `npm run services` needs.
 */
import { parseArgs } from 'node:util';
import { compareEmbedded } from './embedded/compare.ts';
import { printProvenance } from './report.ts';
import { compareServers } from './servers/compare.ts';

const { values } = parseArgs({
  options: {
    on: { type: 'string' },
    commits: { type: 'string', default: '200000' },
    aggregates: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    memory: { type: 'boolean', default: false },
  },
});
const size = {
  commits: Number(values.commits),
  aggregates: Number(values.aggregates),
  rounds: Number(values.rounds),
};
printProvenance();
if (values.on !== 'servers') compareEmbedded({ ...size, withMemory: values.memory });
if (values.on !== 'embedded') await compareServers(size);
