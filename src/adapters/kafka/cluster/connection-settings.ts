import type { SASLOptions } from 'kafkajs';
import type { Logger } from '../../../runtime/logger.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { InnerLogger } from '../driver/kafkajs-internals.ts';

/** How every connection of a log is made. */
export type ConnectionSettings = {
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** What `tls.connect` takes; `true`: TLS by what the machine trusts. */
  readonly ssl: boolean | object | undefined;
  readonly sasl: SASLOptions | undefined;
  readonly connectTimeoutMs: number;
  /** A broker that says nothing for so long is taken for dead. */
  readonly requestTimeoutMs: number;
  readonly runtime: Pick<Runtime, 'clock' | 'random'>;
  readonly logger: Logger;
  readonly innerLogger: InnerLogger;
};
