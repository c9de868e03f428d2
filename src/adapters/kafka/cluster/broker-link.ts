import { UnavailableError } from '../../../runtime/errors.ts';
import { LATE, within } from '../../../runtime/within.ts';
import { type InnerBroker, type InnerConnection, kafkajsInternals } from '../driver/kafkajs-internals.ts';
import { toLogError, unsupported } from '../kafka-error.ts';
import type { BrokerAddress } from '../wire/metadata-request.ts';
import { WireError } from '../wire/wire-error.ts';
import { WireReader } from '../wire/wire-reader.ts';
import type { WireRequest } from '../wire/wire-request.ts';
import { WireWriter } from '../wire/wire-writer.ts';
import type { ConnectionSettings } from './connection-settings.ts';

type Live = { readonly broker: InnerBroker; readonly connection: InnerConnection };

/**
 * One connection to one broker, made when it is first needed, and made anew after any error: a connection of kafkajs
 * keeps what it had half read. One request is on it at a time, as the broker answers a connection's requests in order.
 */
export class BrokerLink {
  readonly address: BrokerAddress;
  readonly #settings: ConnectionSettings;
  #live: Live | undefined;
  #connecting: InnerConnection | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(address: BrokerAddress, settings: ConnectionSettings) {
    this.address = address;
    this.#settings = settings;
  }

  /**
   * Sends a request when those before it are answered. `waitMs`: how long the broker itself may take before it answers.
   * Throws `UnavailableError`, `LogRefusedError`, `LogUnsupportedError`; the connection is gone then.
   */
  async request<T>(request: WireRequest<T>, waitMs = 0): Promise<T> {
    const before = this.#tail;
    const answer = Promise.withResolvers<T>();
    this.#tail = answer.promise.catch(() => undefined);
    await before;
    try {
      const { connection } = await this.#connected(request);
      answer.resolve(await this.#exchange(connection, request, this.#settings.requestTimeoutMs + waitMs));
    } catch (error) {
      this.drop();
      const { host, port } = this.address;
      answer.reject(toLogError(error, `${request.apiName} at ${host}:${port}`));
    }
    return answer.promise;
  }

  /** Breaks the connection at once; what waits on it fails. The next request makes another one. */
  drop(): void {
    const dropped = [this.#live?.connection, this.#connecting].filter((connection) => connection !== undefined);
    this.#live = undefined;
    this.#connecting = undefined;
    for (const connection of dropped) breakOff(connection);
  }

  /** Drops it for good. */
  close(): void {
    this.#isClosed = true;
    this.drop();
  }

  async #connected(request: WireRequest<unknown>): Promise<Live> {
    if (this.#isClosed) throw new UnavailableError('The log is closed.');
    // Brokers close what was silent for long.
    if (this.#live?.connection.isConnected() === false) this.drop();
    this.#live ??= await this.#connect();
    const range = this.#live.broker.versions?.[request.apiKey];
    const { apiVersion, apiName } = request;
    if (range === undefined || apiVersion < range.minVersion || apiVersion > range.maxVersion) {
      throw unsupported(`${apiName} in version ${apiVersion}`);
    }
    return this.#live;
  }

  async #connect(): Promise<Live> {
    const { clientId, ssl, sasl, connectTimeoutMs, requestTimeoutMs, innerLogger } = this.#settings;
    const { Broker, ConnectionPool, socketFactory } = kafkajsInternals();
    const connectionPool = new ConnectionPool({
      ...this.address,
      clientId,
      ssl: ssl === true ? {} : ssl === false ? undefined : ssl,
      // kafkajs writes into it.
      sasl: sasl === undefined ? undefined : { ...sasl },
      socketFactory: socketFactory(),
      connectionTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // Its timer looks ten times a second and connection; there is one of our own per request.
      enforceRequestTimeout: false,
      logger: innerLogger,
    });
    const broker = new Broker({
      connectionPool,
      logger: innerLogger,
      authenticationTimeout: connectTimeoutMs,
      allowAutoTopicCreation: false,
    });
    const [connection] = connectionPool.pool;
    if (connection === undefined) throw new UnavailableError('A pool of connections is empty.');
    this.#connecting = connection;
    await this.#inTime(connectTimeoutMs, broker.connect());
    if (this.#connecting !== connection) {
      // Dropped before there was a socket to close.
      breakOff(connection);
      throw new UnavailableError('The connection was dropped.');
    }
    this.#connecting = undefined;
    return { broker, connection };
  }

  async #exchange<T>(connection: InnerConnection, request: WireRequest<T>, timeoutMs: number): Promise<T> {
    const { apiKey, apiVersion, apiName } = request;
    const exchange = connection.send({
      request: { apiKey, apiVersion, apiName, encode: async () => encode(request) },
      response: { decode: async (payload) => payload, parse: async (payload) => decode(request, payload) },
      logResponseError: false,
    });
    return this.#inTime(timeoutMs, exchange);
  }

  /** Who is late finds its connection dropped. */
  async #inTime<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
    const answer = await within(timeoutMs, work, this.#settings.runtime.clock);
    if (answer === LATE) throw new UnavailableError(`No answer came within ${timeoutMs} ms.`);
    return answer;
  }
}

function breakOff(connection: InnerConnection): void {
  const reason = new UnavailableError('The connection was dropped.');
  connection.rejectRequests(reason);
  connection.socket?.destroy(reason);
  connection.disconnect().catch(() => undefined);
}

function encode(request: WireRequest<unknown>): InstanceType<ReturnType<typeof kafkajsInternals>['Encoder']> {
  const body = new WireWriter();
  // The header of a flexible request ends with tags, of which there are none.
  body.tags();
  request.write(body);
  const { bytes } = body;
  const encoder = new (kafkajsInternals().Encoder)(bytes.length);
  encoder.writeBufferInternal(bytes);
  return encoder;
}

function decode<T>(request: WireRequest<T>, payload: Buffer): T {
  const from = new WireReader(payload);
  try {
    from.tags();
    return request.read(from);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new UnavailableError(`The answer to ${request.apiName} cannot be read: ${error.message}.`, { cause: error });
  }
}
