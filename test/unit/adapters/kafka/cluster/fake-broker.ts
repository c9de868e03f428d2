import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What a fake broker does with a request that is not about versions. */
export type Reaction = (connection: Socket, correlationId: number) => void;

/** Speaks as much of Kafka's protocol as a connection needs to come about, and then reacts as a test says. */
export class FakeBroker implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly #reactions: Reaction[];
  connectionCount = 0;
  /** The newest version of a request that it says it knows. */
  readonly #versionMax: number;

  private constructor(reactions: readonly Reaction[], versionMax: number) {
    this.#reactions = [...reactions];
    this.#versionMax = versionMax;
    this.#server = createServer((connection) => this.#serve(connection));
  }

  /** Reacts to the first request with the first reaction, and so on. */
  static async start(reactions: readonly Reaction[], versionMax = 20): Promise<FakeBroker> {
    const broker = new FakeBroker(reactions, versionMax);
    broker.#server.listen(0, '127.0.0.1');
    await once(broker.#server, 'listening');
    return broker;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends all connections, as brokers do with those that were silent for long. */
  async endConnections(): Promise<void> {
    const closed = [...this.#connections].map((connection) => once(connection, 'close'));
    for (const connection of this.#connections) connection.end();
    await Promise.all(closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(connection: Socket): void {
    this.connectionCount += 1;
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
    connection.on('error', () => undefined);
    let buffered = Buffer.alloc(0);
    connection.on('data', (chunk) => {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 4 && buffered.length >= 4 + buffered.readInt32BE(0)) {
        const length = 4 + buffered.readInt32BE(0);
        this.#react(connection, buffered.subarray(0, length));
        buffered = buffered.subarray(length);
      }
    });
  }

  #react(connection: Socket, request: Buffer): void {
    const apiKey = request.readInt16BE(4);
    const correlationId = request.readInt32BE(8);
    if (apiKey === 18) connection.write(answer(correlationId, this.#versions()));
    else this.#reactions.shift()?.(connection, correlationId);
  }

  #versions(): Buffer {
    const keys = [0, 1, 2, 3];
    const body = Buffer.alloc(6 + keys.length * 6 + 4);
    body.writeInt32BE(keys.length, 2);
    for (const [index, key] of keys.entries()) {
      body.writeInt16BE(key, 6 + index * 6);
      body.writeInt16BE(this.#versionMax, 10 + index * 6);
    }
    return body;
  }
}

/** A response with this body. */
export function answer(correlationId: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + body.length);
  head.writeInt32BE(correlationId, 4);
  return Buffer.concat([head, body]);
}
