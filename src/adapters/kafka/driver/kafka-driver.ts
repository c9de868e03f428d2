import type { Socket } from 'node:net';
import { type ISocketFactory, Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import type { ConnectionSettings } from '../cluster/connection-settings.ts';
import { driverLog } from './driver-log.ts';
import { kafkajsInternals } from './kafkajs-internals.ts';

/** kafkajs itself waits longer than our own requests do: joining a group takes as long as its slowest member. */
const REQUEST_TIMEOUT_MS = 30_000;

/** A client of kafkajs whose connections can be taken from it. */
export type KafkaDriver = {
  readonly kafka: Kafka;
  /** Breaks its connections and lets it make no more, so that whatever it still tries comes to an end. */
  readonly release: () => void;
};

/** A membership is kept up whatever happens. */
const FOR_EVER = 100_000;

/** For what kafkajs does itself: groups, producing, administration. It repeats what fails, up to two seconds apart. */
export function kafkaDriver(settings: ConnectionSettings, retries = FOR_EVER): KafkaDriver {
  const { brokers, clientId, ssl, sasl, connectTimeoutMs, logger } = settings;
  const makeSocket = kafkajsInternals().socketFactory();
  const sockets = new Set<Socket>();
  let isReleased = false;
  const socketFactory: ISocketFactory = (options) => {
    if (isReleased) throw new Error('The client was released.');
    const socket = makeSocket(options);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const config: KafkaConfig = {
    clientId,
    // Without a broker to go to kafkajs gives up for good; with one that refuses it tries for ever.
    brokers: async () => (isReleased ? [] : [...brokers]),
    connectionTimeout: connectTimeoutMs,
    authenticationTimeout: connectTimeoutMs,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: { initialRetryTime: 300, maxRetryTime: 2_000, retries },
    logLevel: logLevel.WARN,
    logCreator: driverLog(logger),
    socketFactory,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl: { ...sasl } }),
  };
  return {
    kafka: new Kafka(config),
    release: () => {
      isReleased = true;
      for (const socket of sockets) socket.destroy(new Error('The client was released.'));
    },
  };
}
