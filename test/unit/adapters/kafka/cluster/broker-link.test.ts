import { describe, expect, test } from 'vitest';
import { BrokerLink } from '../../../../../src/adapters/kafka/cluster/broker-link.ts';
import { connectionOf } from '../../../../../src/adapters/kafka/open-kafka.ts';
import type { WireRequest } from '../../../../../src/adapters/kafka/wire/wire-request.ts';
import { WireWriter } from '../../../../../src/adapters/kafka/wire/wire-writer.ts';
import { nodeRuntime } from '../../../../../src/adapters/node/node-runtime.ts';
import { silentLogger } from '../../../../../src/runtime/logger.ts';
import { answer, FakeBroker, type Reaction } from './fake-broker.ts';

/** Asks for a number. */
const question: WireRequest<number> = {
  apiKey: 3,
  apiVersion: 12,
  apiName: 'Metadata',
  write: (to) => to.int32(1),
  read: (from) => from.int32(),
};

const numberBody = (value: number): Buffer => new WireWriter().tags().int32(value).bytes;
const say =
  (value: number): Reaction =>
  (connection, id) =>
    connection.write(answer(id, numberBody(value)));
const saySomething: Reaction = (connection, id) => {
  const whole = answer(id, numberBody(1));
  connection.end(whole.subarray(0, whole.length - 2));
};
const sayNothing: Reaction = () => undefined;

function linkTo(broker: { readonly port: number }, requestTimeoutMs = 1_000): BrokerLink {
  const options = { brokers: [], clientId: 'test', runtime: nodeRuntime(silentLogger), requestTimeoutMs };
  return new BrokerLink({ host: '127.0.0.1', port: broker.port }, connectionOf(options));
}

describe('a connection to a broker', () => {
  test('is made for the first request and kept for the next ones, one after the other', async () => {
    await using broker = await FakeBroker.start([say(1), say(2), say(3)]);
    const link = linkTo(broker);
    expect(await Promise.all([link.request(question), link.request(question)])).toEqual([1, 2]);
    expect(await link.request(question)).toBe(3);
    expect(broker.connectionCount).toBe(1);
    link.close();
  });

  test('that is cut inside an answer is thrown away: the next request is answered on another one', async () => {
    await using broker = await FakeBroker.start([saySomething, say(7)]);
    const link = linkTo(broker);
    await expect(link.request(question)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await link.request(question)).toBe(7);
    expect(broker.connectionCount).toBe(2);
    link.close();
  });

  test('to a broker that says nothing is given up in time', async () => {
    await using broker = await FakeBroker.start([sayNothing, say(7)]);
    const link = linkTo(broker, 30);
    await expect(link.request(question)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await link.request(question)).toBe(7);
    link.close();
  });

  test('that is dropped fails what waits on it at once', async () => {
    const asked = Promise.withResolvers<void>();
    await using broker = await FakeBroker.start([() => asked.resolve()]);
    const link = linkTo(broker, 60_000);
    const waiting = link.request(question).catch((error: unknown) => error);
    await asked.promise;
    link.close();
    expect(await waiting).toMatchObject({ code: 'UNAVAILABLE' });
    await expect(link.request(question)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('that the broker closed while it was idle is made anew without an error', async () => {
    await using broker = await FakeBroker.start([say(1), say(2)]);
    const link = linkTo(broker);
    expect(await link.request(question)).toBe(1);
    await broker.endConnections();
    expect(await link.request(question)).toBe(2);
    link.close();
  });

  test('to a broker that is too old is refused', async () => {
    await using broker = await FakeBroker.start([], 11);
    const link = linkTo(broker);
    await expect(link.request(question)).rejects.toMatchObject({ code: 'LOG_UNSUPPORTED' });
    link.close();
  });

  test('whose answer cannot be read fails, and is made anew', async () => {
    await using broker = await FakeBroker.start([
      (connection, id) => connection.write(answer(id, Buffer.alloc(2))),
      say(4),
    ]);
    const link = linkTo(broker);
    await expect(link.request(question)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await link.request(question)).toBe(4);
    link.close();
  });

  test('to nobody fails', async () => {
    const broker = await FakeBroker.start([]);
    const { port } = broker;
    await broker[Symbol.asyncDispose]();
    const link = linkTo({ port });
    await expect(link.request(question)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    link.close();
  });
});
