import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { expect, inject, test } from 'vitest';

const kafka = inject('kafka');
const mongodb = inject('mongodb');

test.skipIf(kafka === undefined)('there is a real Kafka', async () => {
  const brokers = (kafka ?? '').split(',');
  const admin = new Kafka({ clientId: 'test', brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  expect((await admin.describeCluster()).brokers.length).toBeGreaterThan(0);
  await admin.disconnect();
});

test.skipIf(mongodb === undefined)('there is a real MongoDB that can do transactions', async () => {
  await using client = new MongoClient(mongodb ?? '');
  const { setName, msg } = await client.db('admin').command({ hello: 1 });
  expect(setName !== undefined || msg === 'isdbgrid').toBe(true);
});
