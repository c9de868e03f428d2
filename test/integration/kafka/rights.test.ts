import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  ResourcePatternTypes,
  type SASLOptions,
} from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type KafkaLog, openKafkaLog } from '../../../src/adapters/kafka/index.ts';
import { nodeRuntime } from '../../../src/adapters/node/node-runtime.ts';
import { type LogFields, type Logger, silentLogger } from '../../../src/runtime/logger.ts';
import { KafkaServers } from '../../services/kafka-servers.ts';
import { never } from './pulling.ts';

const kafka = inject('kafka');

function user(username: string, password = `${username}-secret`): SASLOptions {
  return { mechanism: 'plain', username, password };
}

const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
const users = ['admin', 'app', 'stranger'].map((name) => `user_${name}="${name}-secret"`).join(' ');

/** A broker that asks for a name and a password, and gives rights to some. */
describe.skipIf(kafka === undefined)('a broker of Kafka that lets not everybody in', () => {
  let servers: KafkaServers;
  beforeAll(async () => {
    servers = await KafkaServers.start({
      client: { sasl: user('admin') },
      properties: {
        'listener.security.protocol.map': 'PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
        'sasl.enabled.mechanisms': 'PLAIN',
        'sasl.mechanism.inter.broker.protocol': 'PLAIN',
        'listener.name.plaintext.plain.sasl.jaas.config': `${login} username="admin" password="admin-secret" ${users};`,
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'super.users': 'User:admin;User:ANONYMOUS',
      },
    });
    const admin = servers.client().admin();
    await admin.connect();
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic: 'orders', numPartitions: 1 }] });
    const right = (resourceType: AclResourceTypes, resourceName: string, operation: AclOperationTypes) => ({
      resourceType,
      resourceName,
      resourcePatternType: ResourcePatternTypes.PREFIXED,
      principal: 'User:app',
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    });
    await admin.createAcls({
      acl: [
        right(AclResourceTypes.TOPIC, 'orders', AclOperationTypes.READ),
        right(AclResourceTypes.TOPIC, 'orders', AclOperationTypes.WRITE),
        right(AclResourceTypes.GROUP, 'known.', AclOperationTypes.READ),
      ],
    });
    await admin.disconnect();
  });
  afterAll(() => servers[Symbol.asyncDispose]());

  function open(
    sasl: SASLOptions,
    { clientId = 'known', logger = silentLogger }: { clientId?: string; logger?: Logger } = {},
  ): KafkaLog {
    return openKafkaLog({ brokers: servers.brokers, clientId, sasl, runtime: nodeRuntime(logger) });
  }

  test('serves whom it knows: joining, reading, appending', async () => {
    await using kafkaLog = open(user('app'));
    const { log } = kafkaLog;
    await kafkaLog.assertMayJoin('Orders');
    const line = JSON.stringify({ topic: 'orders', key: 'k', timestamp: Date.now(), value: '{}' });
    await kafkaLog.append([line], { asIs: true });
    const session = log.open('Orders', ['orders']);
    const first = await session.assignments(never)[Symbol.asyncIterator]().next();
    expect(first).toMatchObject({ value: { assigned: [{ topic: 'orders', partition: 0 }], lost: [] } });
    const batch = await session.pull(
      { topic: 'orders', partition: 0, offset: 0 },
      { records: 9, bytes: 99, waitMs: 5_000 },
      never,
    );
    expect(batch.records).toMatchObject([{ key: 'k' }]);
  });

  test('refuses a wrong password: a mistake to correct, not an outage', async () => {
    await using kafkaLog = open(user('app', 'wrong'));
    await expect(kafkaLog.log.describe('orders')).rejects.toMatchObject({ code: 'LOG_REFUSED' });
    await expect(kafkaLog.ensureTopics(['more'], { partitions: 1 })).rejects.toMatchObject({ code: 'LOG_REFUSED' });
  });

  test('refuses a topic to whom it gave no right', async () => {
    await using kafkaLog = open(user('stranger'));
    await expect(kafkaLog.log.describe('orders')).rejects.toMatchObject({
      code: 'LOG_REFUSED',
      details: { topic: 'orders' },
    });
  });

  test('refuses a group of another name: it is said once and tried again slowly', async () => {
    const refused = Promise.withResolvers<LogFields | undefined>();
    let count = 0;
    const logger: Logger = {
      ...silentLogger,
      error: (_message, fields) => {
        count += 1;
        refused.resolve(fields);
      },
      child: () => logger,
    };
    await using kafkaLog = open(user('app'), { clientId: 'unknown', logger });
    await expect(kafkaLog.assertMayJoin('Orders')).rejects.toMatchObject({ code: 'LOG_REFUSED' });
    const session = kafkaLog.log.open('Orders', ['orders']);
    const over = new AbortController();
    const following = session.assignments(over.signal)[Symbol.asyncIterator]().next();
    expect(await refused.promise).toMatchObject({ code: 'LOG_REFUSED', groupId: 'unknown.Orders' });
    over.abort();
    expect(await following).toMatchObject({ done: true });
    await session.stop();
    expect(count).toBe(1);
  });
});
