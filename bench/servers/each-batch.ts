/** The bound: kafkajs reads a topic by `eachBatch`, 4 MiB at a time, and each record's JSON is parsed. */
import { argv, stdout } from 'node:process';
import { consumed } from './consumed.ts';

const [, , brokers = '', topic = '', count = ''] = argv;
let versions = 0;
const { ms, records } = await consumed(
  { brokers, topic, records: Number(count), bytes: 4 * 1024 * 1024 },
  async (batch) => {
    for (const { value } of batch) versions += (JSON.parse(String(value)) as { version: number }).version;
  },
);
stdout.write(`${JSON.stringify({ ms, records, versions, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
