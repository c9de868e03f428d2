/**
 * `npm run services [-- --kafka-port 9092 --mongodb-port 27017]`: starts a real Kafka and a real MongoDB for trying
 * things out, prints their addresses, and stops them at ^C. They begin empty, and nothing of them is kept.
 */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { findServer } from './ladder.ts';

const { values } = parseArgs({
  options: {
    'kafka-port': { type: 'string', default: '9092' },
    'mongodb-port': { type: 'string', default: '27017' },
  },
});

await using kafka = await findServer('Kafka', Number(values['kafka-port']));
console.log(`Kafka    ${kafka.address} (${kafka.how})`);
await using mongodb = await findServer('MongoDB', Number(values['mongodb-port']));
console.log(`MongoDB  ${mongodb.address} (${mongodb.how})`);
console.log('Stop them with ^C.');
// Something must keep the process going while nobody talks to it.
const waiting = setInterval(() => {}, 60_000);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
clearInterval(waiting);
