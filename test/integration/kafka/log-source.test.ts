import { describe, inject } from 'vitest';
import { holdTo, type Opened } from '../../contracts/contract.ts';
import { type LogSubject, logSourceContract } from '../../contracts/log-source.contract.ts';
import { KafkaSubject } from './kafka-subject.ts';

const kafka = inject('kafka');
/** The topic of the contract, which begins each check empty. */
const contractTopic = 'wow.eshop.order.state';

async function open(): Promise<Opened<LogSubject>> {
  const subject = await KafkaSubject.connect((kafka ?? '').split(','));
  const { log } = subject.open();
  if ((await log.describe(contractTopic)).identity !== '') await subject.deleteTopic(contractTopic);
  return {
    subject: {
      log,
      append: async (topic, partition, records) => {
        if ((await log.describe(topic)).identity === '') await subject.createTopic(topic, 2);
        await subject.append({ topic, partition }, records);
      },
      passing: (promise) => promise,
    },
    [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose](),
  };
}

describe.skipIf(kafka === undefined)('on a real broker', () => {
  holdTo('Kafka', logSourceContract, open);
});
