import type { CommitRecord } from 'tidemark';
import { Brands } from './brands.ts';
import { Buyers } from './buyers.ts';
import { OrderJourney } from './order-journey.ts';
import { SeededRandom } from './random.ts';
import { CommitWriter } from './stream.ts';

export type EshopOptions = {
  /** How many commits; default: without end. */
  readonly commits?: number;
  /** Decides everything: the same seed gives the same commits, byte for byte. Default 1. */
  readonly seed?: number;
  /** Default two tenants. All number their orders and buyers alike, so they share ids. */
  readonly tenants?: readonly [string, ...string[]];
  /** Orders that go on at the same time, over all tenants. Default 60. */
  readonly ordersAtOnce?: number;
  /** When commits happen, milliseconds since the epoch; default: in a time of their own, from a Monday morning on. */
  readonly nowMs?: () => number;
  /**
   * Names a later run on the same log: its orders get ids of their own, and its buyers and brands are those of before,
   * so they get no commits.
   */
  readonly series?: string;
};

type Tenant = { readonly id: string; readonly buyers: Buyers; readonly brands: Brands; orders: number };

const KNOWN_BUYERS = 12;

/** The commits of a small shop, in the order they were committed: versions of an aggregate rise by one from 1. */
export function* eshopCommits(options: EshopOptions = {}): Generator<CommitRecord, void, undefined> {
  const { commits = Number.POSITIVE_INFINITY } = options;
  const shop = new Shop(options);
  for (let count = 0; count < commits; count += 1) yield shop.next();
}

class Shop {
  readonly #random: SeededRandom;
  readonly #writer: CommitWriter;
  readonly #tenants: readonly [Tenant, ...Tenant[]];
  readonly #series: string | undefined;
  readonly #ordersAtOnce: number;
  readonly #journeys: OrderJourney[] = [];

  constructor({ seed = 1, nowMs, ...options }: EshopOptions) {
    this.#series = options.series;
    this.#ordersAtOnce = options.ordersAtOnce ?? 60;
    this.#random = new SeededRandom(seed);
    this.#writer = new CommitWriter({
      random: this.#random,
      idPrefix: `${this.#series ?? ''}${seed.toString(36)}-`,
      ...(nowMs === undefined ? {} : { nowMs }),
    });
    const [first, ...others] = options.tenants ?? ['acme', 'globex'];
    this.#tenants = [this.#tenant(first), ...others.map((id) => this.#tenant(id))];
  }

  next(): CommitRecord {
    this.#writer.advance();
    const tenant = this.#random.pick(this.#tenants);
    if (this.#series === undefined) {
      const roll = this.#random.next();
      if (tenant.buyers.count < 3 || roll < 0.03) return tenant.buyers.next();
      if (roll < 0.04) return tenant.brands.next();
    }
    if (this.#journeys.length < this.#ordersAtOnce && this.#random.chance(0.25)) return this.#begin(tenant);
    return this.#continue() ?? this.#begin(tenant);
  }

  #tenant(id: string): Tenant {
    const random = this.#random;
    const writer = this.#writer;
    const known = this.#series === undefined ? 0 : KNOWN_BUYERS;
    return {
      id,
      buyers: new Buyers({ tenantId: id, random, writer, known }),
      brands: new Brands({ tenantId: id, random, writer }),
      orders: 0,
    };
  }

  #begin(tenant: Tenant): CommitRecord {
    tenant.orders += 1;
    const number = String(tenant.orders).padStart(6, '0');
    const journey = new OrderJourney({
      tenantId: tenant.id,
      orderId: this.#series === undefined ? `order-${number}` : `order-${this.#series}-${number}`,
      buyerId: tenant.buyers.some(),
      random: this.#random,
      writer: this.#writer,
      someBuyer: () => tenant.buyers.some(),
    });
    this.#journeys.push(journey);
    return journey.next() ?? this.#begin(tenant);
  }

  /** The next commit of an order that goes on; those that are over are dropped on the way. */
  #continue(): CommitRecord | undefined {
    while (this.#journeys.length > 0) {
      const place = this.#random.integer(0, this.#journeys.length - 1);
      const record = this.#journeys[place]?.next();
      if (record !== undefined) return record;
      const last = this.#journeys.pop();
      if (last !== undefined && place < this.#journeys.length) this.#journeys[place] = last;
    }
    return undefined;
  }
}
