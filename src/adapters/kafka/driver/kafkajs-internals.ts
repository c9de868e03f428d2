import { createRequire } from 'node:module';
import type { ISocketFactory, logCreator, SASLOptions } from 'kafkajs';
import { assert } from '../../../runtime/assert.ts';
import { healPrototypes } from './overrides.ts';

/** The only version whose inner modules are known here: another one is refused, never tried. */
const KAFKAJS_VERSION = '2.2.4';

/** What a request of our own looks like to a connection of kafkajs. */
export type InnerRequest = {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  readonly encode: () => Promise<InnerEncoder>;
};

/** What `encode` gives: bytes that stand behind the request's header. */
export type InnerEncoder = { writeBufferInternal(bytes: Buffer): void };

export type InnerResponse<T> = { decode(payload: Buffer): Promise<Buffer>; parse(payload: Buffer): Promise<T> };

export type InnerConnection = {
  isConnected(): boolean;
  send<T>(exchange: {
    readonly request: InnerRequest;
    readonly response: InnerResponse<T>;
    readonly logResponseError: boolean;
  }): Promise<T>;
  /** Fails whatever waits for an answer. */
  rejectRequests(error: Error): void;
  disconnect(): Promise<unknown>;
  readonly socket?: { destroy(error?: Error): unknown };
};

export type InnerConnectionPool = { readonly pool: readonly InnerConnection[] };

export type ApiVersions = Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>>;

export type InnerBroker = {
  readonly connectionPool: InnerConnectionPool;
  readonly versions: ApiVersions | null;
  /** Connects the first connection, asks what the broker can do, and authenticates. */
  connect(): Promise<void>;
};

export type InnerLogger = { readonly namespace: (name: string) => InnerLogger };

export type ConnectionOptions = {
  readonly host: string;
  readonly port: number;
  readonly clientId: string;
  readonly ssl: object | undefined;
  readonly sasl: SASLOptions | undefined;
  readonly socketFactory: ISocketFactory;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  readonly logger: InnerLogger;
};

type Internals = {
  readonly ConnectionPool: new (options: ConnectionOptions) => InnerConnectionPool;
  readonly Broker: new (options: {
    readonly connectionPool: InnerConnectionPool;
    readonly logger: InnerLogger;
    readonly authenticationTimeout: number;
    readonly allowAutoTopicCreation: boolean;
  }) => InnerBroker;
  readonly Encoder: new (size: number) => InnerEncoder;
  readonly createLogger: (options: { readonly level: number; readonly logCreator: logCreator }) => InnerLogger;
  readonly socketFactory: () => ISocketFactory;
};

let loaded: Internals | undefined;

/**
 * The inner modules of kafkajs that the adapter stands on, with two of its habits cured (`healPrototypes`). Whoever uses
 * kafkajs in this adapter calls this first. Throws where another version is installed.
 */
export function kafkajsInternals(): Internals {
  loaded ??= load();
  return loaded;
}

function load(): Internals {
  const require = createRequire(import.meta.url);
  const { version } = require('kafkajs/package.json') as { readonly version: string };
  assertVersion(version);
  const Broker = require('kafkajs/src/broker') as Internals['Broker'] & Parameters<typeof healPrototypes>[0]['Broker'];
  healPrototypes({
    Broker,
    RequestQueue: require('kafkajs/src/network/requestQueue') as Parameters<typeof healPrototypes>[0]['RequestQueue'],
    metadata: (require('kafkajs/src/protocol/requests') as Requests).requests.Metadata,
  });
  return {
    Broker,
    ConnectionPool: require('kafkajs/src/network/connectionPool') as Internals['ConnectionPool'],
    Encoder: require('kafkajs/src/protocol/encoder') as Internals['Encoder'],
    createLogger: (require('kafkajs/src/loggers') as Pick<Internals, 'createLogger'>).createLogger,
    socketFactory: require('kafkajs/src/network/socketFactory') as Internals['socketFactory'],
  };
}

type Requests = { readonly requests: { readonly Metadata: unknown } };

/** Programmer's error: the package pins the version, so another one was forced from outside. */
export function assertVersion(version: string): void {
  assert(version === KAFKAJS_VERSION, `kafkajs is ${KAFKAJS_VERSION}, whose inner modules are known`, { version });
}
