import type { Position, TopicPartition } from '../../src/log/position.ts';
import type { Random } from '../../src/runtime/random.ts';
import { commit } from '../../src/testing/commit.ts';
import { integerBelow, isDrawn, pick } from '../../src/testing/world/chance.ts';
import type { MemoryLog } from '../../src/testing/world/memory-log.ts';
import {
  type FunctionName,
  functionNames,
  Order,
  type OrderEvents,
  type OrderState,
  Payment,
  type PaymentState,
} from './shop.ts';

/** A commit as it was made, and what a function sees of it. */
export type MadeCommit = {
  readonly kind: 'order' | 'payment';
  readonly tenantId: string;
  readonly id: string;
  readonly version: number;
  readonly order: OrderState | undefined;
  readonly payment: PaymentState | undefined;
  readonly events: readonly EventToMake[];
  readonly value: string;
};

/** A record of the log; one that is no commit holds up everything of its key. */
export type Published = {
  readonly position: Position;
  readonly key: string;
  readonly commit: MadeCommit | undefined;
  /** As a publisher should do it: for the first time, in the order of versions, where the hash of its id says. */
  readonly isInPlace: boolean;
};

type EventToMake = {
  readonly [Name in keyof OrderEvents]: { readonly name: Name; readonly body: OrderEvents[Name] };
}[keyof OrderEvents];

type Aggregate = {
  readonly kind: 'order' | 'payment';
  readonly tenantId: string;
  readonly id: string;
  partition: number;
  /** Neither fails nor lacks versions, so that it may give its code and slot to another. */
  readonly isClean: boolean;
  version: number;
  order: OrderState;
};

const buyers = ['ada', 'bob', 'cyd'];
const tenants = ['(0)', 'acme'];

/** Makes commits as a shop would, one at a time, and appends them to the log with all that goes wrong there. */
export class Workload {
  readonly published: Published[] = [];
  readonly #random: Random;
  readonly #log: MemoryLog;
  #partitions: number;
  readonly #aggregates: readonly Aggregate[];
  readonly #withheld: { readonly commit: MadeCommit; readonly partition: number }[] = [];
  readonly #freed: { readonly code: string; readonly slot: string }[] = [];
  readonly #handedOn = new Set<string>();
  readonly #rates: {
    readonly fails: number;
    readonly withheld: number;
    readonly repeated: number;
    readonly broken: number;
    /** Commits in another partition than the aggregate's: a second publisher that hashes differently. */
    readonly scattered: number;
  };
  #made = 0;

  constructor(random: Random, log: MemoryLog, partitions: number) {
    this.#random = random;
    this.#log = log;
    this.#partitions = partitions;
    log.createTopic(Order.topic, partitions);
    log.createTopic(Payment.topic, partitions);
    const ids = Array.from({ length: 2 + integerBelow(random, 8) }, (_, index) => `o${index}`);
    this.#aggregates = ids.flatMap((id) => this.#newAggregates(id, partitions));
    this.#rates = {
      fails: pick(random, [0, 0, 0.02, 0.05]),
      withheld: pick(random, [0, 0.05, 0.2]),
      repeated: pick(random, [0, 0.1, 0.3]),
      broken: pick(random, [0, 0, 0.01]),
      scattered: pick(random, [0, 0, 0.2]),
    };
  }

  /** Lets one thing happen to the log. */
  step(): void {
    const random = this.#random;
    if (isDrawn(random, this.#rates.repeated)) return this.#repeat();
    if (isDrawn(random, 0.2)) return this.#fillOne();
    const aggregate = pick(random, this.#aggregates);
    if (!aggregate.isClean && isDrawn(random, this.#rates.broken)) return this.#breakRecord(aggregate);
    if (isDrawn(random, 0.02))
      this.#log.skip(placeOf(aggregate.kind, aggregate.partition), 1 + integerBelow(random, 3));
    const isScattered = !aggregate.isClean && isDrawn(random, this.#rates.scattered);
    const partition = isScattered ? integerBelow(random, this.#partitions) : aggregate.partition;
    const made = aggregate.kind === 'order' ? this.#nextOrder(aggregate) : this.#nextPayment(aggregate);
    if (!aggregate.isClean && isDrawn(random, this.#rates.withheld)) {
      this.#withheld.push({ commit: made, partition });
    } else {
      this.#append(made, partition, !isScattered);
    }
  }

  /**
   * Gives the topics more partitions; half of the aggregates go on in one of those. Commits that come to stand in another
   * partition that is followed already are the scattered ones, whose order nobody keeps.
   */
  grow(): void {
    const before = this.#partitions;
    this.#partitions += 1 + integerBelow(this.#random, 2);
    this.#log.createTopic(Order.topic, this.#partitions);
    this.#log.createTopic(Payment.topic, this.#partitions);
    for (const aggregate of this.#aggregates) {
      if (!isDrawn(this.#random, 0.5)) continue;
      aggregate.partition = before + integerBelow(this.#random, this.#partitions - before);
    }
  }

  /** Appends most of what was held back; the rest never comes. */
  finish(): void {
    while (this.#withheld.length > 0) {
      if (isDrawn(this.#random, 0.8)) this.#fillOne();
      else this.#withheld.pop();
    }
  }

  #newAggregates(id: string, partitions: number): readonly Aggregate[] {
    const random = this.#random;
    const isClean = isDrawn(random, 0.5);
    const tenantId = pick(random, tenants);
    const order: OrderState = {
      status: 'open',
      buyer: pick(random, buyers),
      amount: 1,
      code: `code-${id}`,
      slot: `slot-${id}`,
      failsIn: [],
    };
    const common = { tenantId, id, version: 0, order, isClean };
    const own: Aggregate[] = [{ ...common, kind: 'order', partition: integerBelow(random, partitions) }];
    if (isDrawn(random, 0.7)) own.push({ ...common, kind: 'payment', partition: integerBelow(random, partitions) });
    return own;
  }

  #nextOrder(aggregate: Aggregate): MadeCommit {
    const random = this.#random;
    aggregate.version += 1;
    const change: Partial<OrderState> = pick<() => Partial<OrderState>>(random, [
      () => ({ buyer: pick(random, buyers) }),
      () => ({ status: pick(random, ['open', 'open', 'closed', 'deleted'] as const) }),
      () => this.#newPlace(aggregate),
      () => ({}),
    ])();
    const fails = !aggregate.isClean && isDrawn(random, this.#rates.fails);
    aggregate.order = {
      ...aggregate.order,
      amount: integerBelow(random, 100),
      ...change,
      failsIn: fails ? functionNames.filter(() => isDrawn(random, 0.5)) : [],
    };
    const { tenantId, id, version, order } = aggregate;
    const events = Array.from({ length: 1 + integerBelow(random, 3) }, () => this.#newEvent());
    const [first = this.#newEvent(), ...rest] = events;
    const record = commit(Order, { id, tenantId, version, state: order, events: [first, ...rest] });
    const value = JSON.stringify(record);
    return { kind: 'order', tenantId, id, version, order, payment: undefined, events: [first, ...rest], value };
  }

  #nextPayment(aggregate: Aggregate): MadeCommit {
    aggregate.version += 1;
    const { tenantId, id, version } = aggregate;
    const fails = !aggregate.isClean && isDrawn(this.#random, this.#rates.fails);
    const failsIn: readonly FunctionName[] = fails ? ['onJoined'] : [];
    const payment = { method: `method-${version}`, failsIn };
    const events = [{ name: 'payment_changed', body: {} }] as const;
    const value = JSON.stringify(commit(Payment, { id, tenantId, version, state: payment, events }));
    return { kind: 'payment', tenantId, id, version, order: undefined, payment, events: [], value };
  }

  #newEvent(): EventToMake {
    return pick<() => EventToMake>(this.#random, [
      () => ({ name: 'order_changed', body: { note: 'changed' } }),
      () => ({ name: 'order_shipped', body: { by: pick(this.#random, ['sea', 'air']) } }),
      () => ({ name: 'order_paid', body: { amount: integerBelow(this.#random, 50) } }),
    ])();
  }

  /**
   * A fresh code and slot, or those that another order let go in the log before. Each goes to one other order at most: a
   * third one could get it before the second one is through, which then waits for ever.
   */
  #newPlace(aggregate: Aggregate): Partial<OrderState> {
    this.#made += 1;
    const fresh = { code: `code-${this.#made}`, slot: `slot-${this.#made}` };
    if (!aggregate.isClean) return fresh;
    const taken = isDrawn(this.#random, 0.7) ? this.#freed.shift() : undefined;
    const { code, slot } = aggregate.order;
    if (!this.#handedOn.has(code)) this.#freed.push({ code, slot });
    if (taken !== undefined) this.#handedOn.add(taken.code);
    return taken ?? fresh;
  }

  #append(made: MadeCommit, partition: number, isInPlace: boolean): void {
    const position = this.#log.append(placeOf(made.kind, partition), { key: made.id, value: made.value });
    this.published.push({ position, key: made.id, commit: made, isInPlace });
  }

  #repeat(): void {
    const [again] = this.published.length === 0 ? [] : [pick(this.#random, this.published)];
    if (again?.commit !== undefined) this.#append(again.commit, again.position.partition, false);
  }

  #fillOne(): void {
    const place = integerBelow(this.#random, this.#withheld.length);
    for (const { commit: made, partition } of this.#withheld.splice(place, 1)) this.#append(made, partition, false);
  }

  #breakRecord({ kind, partition, id }: Aggregate): void {
    const position = this.#log.append(placeOf(kind, partition), { key: id, value: '{"broken":' });
    this.published.push({ position, key: id, commit: undefined, isInPlace: false });
  }
}

function placeOf(kind: 'order' | 'payment', partition: number): TopicPartition {
  return { topic: kind === 'order' ? Order.topic : Payment.topic, partition };
}
