import type { CommitRecord } from 'tidemark';
import type { SeededRandom } from './random.ts';

/** One aggregate in the making: what its next commit goes on from. */
export type Stream<State> = {
  readonly aggregateName: string;
  readonly tenantId: string;
  readonly id: string;
  version: number;
  ownerId: string;
  state: State;
  deleted: boolean;
  tags: Readonly<Record<string, readonly string[]>>;
  firstOperator: string;
  firstEventTime: number;
};

/** An event of any aggregate whose events are `Events`. */
export type EventIn<Events> = {
  readonly [Name in keyof Events]: { readonly name: Name; readonly body: Events[Name] };
}[keyof Events];

type AnyEvent = { readonly name: string; readonly body: unknown };

export type WriterOptions = {
  readonly random: SeededRandom;
  /** Starts every id, so that two writers never give one. */
  readonly idPrefix: string;
  /** Time of the next commit, milliseconds since the epoch; default: a time of its own, from a Monday morning on. */
  readonly nowMs?: () => number;
};

const FIRST_COMMIT_MS = Date.UTC(2026, 0, 5, 8);

const userAgents = [
  'Mozilla/5.0 (X11; Linux x86_64) eshop-web/4.2',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1) eshop-app/7.0.3',
  'eshop-backoffice/2.8',
] as const;

/** Writes the records of commits: numbers versions, stamps times, gives ids. */
export class CommitWriter {
  readonly #random: SeededRandom;
  readonly #idPrefix: string;
  readonly #clock: () => number;
  #nowMs = FIRST_COMMIT_MS;
  #ids = 0;

  constructor({ random, idPrefix, nowMs }: WriterOptions) {
    this.#random = random;
    this.#idPrefix = idPrefix;
    this.#clock = nowMs ?? (() => this.#nowMs + random.integer(20, 1_500));
  }

  /** Time of the commit that is being made. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Time goes on: what is written from here on is of now. */
  advance(): void {
    this.#nowMs = Math.max(this.#nowMs, this.#clock());
  }

  /** The record of the stream's next commit. What the commit changes is in the stream already, but for its version. */
  commit(
    stream: Stream<unknown>,
    events: readonly AnyEvent[],
    more: Pick<CommitRecord, 'reservations'> = {},
  ): CommitRecord {
    stream.version += 1;
    const operator = stream.ownerId === '' ? 'back-office' : stream.ownerId;
    if (stream.version === 1) {
      stream.firstOperator = operator;
      stream.firstEventTime = this.#nowMs;
    }
    const id = this.nextId();
    return {
      id,
      contextName: 'eshop',
      aggregateName: stream.aggregateName,
      header: this.#header(operator),
      aggregateId: stream.id,
      tenantId: stream.tenantId,
      ownerId: stream.ownerId,
      spaceId: '',
      commandId: this.nextId(),
      requestId: this.nextId(),
      version: stream.version,
      firstOperator: stream.firstOperator,
      firstEventTime: stream.firstEventTime,
      state: stream.state,
      tags: stream.tags,
      deleted: stream.deleted,
      body: events.map(({ name, body }, index) => ({
        id: `${id}.${index}`,
        name,
        revision: '0.0.1',
        bodyType: `eshop.${stream.aggregateName}.${name}`,
        body,
      })),
      createTime: this.#nowMs,
      ...more,
    };
  }

  nextId(): string {
    this.#ids += 1;
    return `${this.#idPrefix}${this.#ids.toString(36).padStart(8, '0')}`;
  }

  #header(operator: string): Readonly<Record<string, string>> {
    const random = this.#random;
    return {
      command_operator: operator,
      traceparent: `00-${random.hex(32)}-${random.hex(16)}-01`,
      user_agent: random.pick(userAgents),
      remote_ip: `203.0.113.${random.integer(1, 254)}`,
    };
  }
}

/** An aggregate before its first commit. */
export function newStream<State>(
  of: Pick<Stream<State>, 'aggregateName' | 'tenantId' | 'id' | 'ownerId' | 'state'>,
): Stream<State> {
  return { ...of, version: 0, deleted: false, tags: {}, firstOperator: '', firstEventTime: 0 };
}
