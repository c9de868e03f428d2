import type { CommitRecord } from 'tidemark';
import type { BuyerEvents, BuyerState } from '../buyer.ts';
import { somePersonName } from './catalogue.ts';
import type { SeededRandom } from './random.ts';
import { type CommitWriter, type EventIn, newStream, type Stream } from './stream.ts';

type BuyerEvent = EventIn<BuyerEvents>;

/** Buyers of a tenant that commits are written for, at most; later ones only change their names. */
const BUYERS_MAX = 5_000;

/** The buyers of one tenant. */
export class Buyers {
  readonly #streams: Stream<BuyerState>[] = [];
  readonly #tenantId: string;
  readonly #random: SeededRandom;
  readonly #writer: CommitWriter;
  #known: number;

  /** `known` buyers are registered already and get no commits. */
  constructor(options: {
    readonly tenantId: string;
    readonly random: SeededRandom;
    readonly writer: CommitWriter;
    readonly known: number;
  }) {
    this.#tenantId = options.tenantId;
    this.#random = options.random;
    this.#writer = options.writer;
    this.#known = options.known;
  }

  get count(): number {
    return this.#known + this.#streams.length;
  }

  /** Some buyer: the first ones are picked much more often than the last ones. */
  some(): string {
    return buyerId(1 + Math.floor(this.#random.next() ** 3 * this.count));
  }

  /** Registers a buyer, or renames one. */
  next(): CommitRecord {
    const isNew = this.#streams.length < 3 || (this.#streams.length < BUYERS_MAX && this.#random.chance(0.7));
    const stream = isNew ? undefined : this.#streams[this.#random.integer(0, this.#streams.length - 1)];
    return stream === undefined ? this.#register() : this.#rename(stream);
  }

  #register(): CommitRecord {
    const id = buyerId(this.count + 1);
    const name = somePersonName(this.#random);
    const email = `${id}@example.com`;
    const stream = newStream<BuyerState>({
      aggregateName: 'buyer',
      tenantId: this.#tenantId,
      id,
      ownerId: id,
      state: { id, name, email },
    });
    this.#streams.push(stream);
    return this.#commit(stream, { name: 'buyer_registered', body: { name, email } });
  }

  #rename(stream: Stream<BuyerState>): CommitRecord {
    const from = stream.state.name;
    const to = somePersonName(this.#random);
    stream.state = { ...stream.state, name: to };
    return this.#commit(stream, { name: 'buyer_renamed', body: { from, to } });
  }

  #commit(stream: Stream<BuyerState>, event: BuyerEvent): CommitRecord {
    return this.#writer.commit(stream, [event]);
  }
}

function buyerId(number: number): string {
  return `buyer-${String(number).padStart(4, '0')}`;
}
