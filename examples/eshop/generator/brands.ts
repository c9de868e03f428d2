import type { CommitRecord } from 'tidemark';
import type { BrandEvents, BrandState } from '../brand.ts';
import { someBrandName } from './catalogue.ts';
import type { SeededRandom } from './random.ts';
import { type CommitWriter, type EventIn, newStream, type Stream } from './stream.ts';

const BRANDS_MAX = 12;
const NAMESPACE = 'eshop.brand-name';

/** The brands of one tenant. No two have one name: a commit that names a brand holds the name's key. */
export class Brands {
  readonly #streams: Stream<BrandState>[] = [];
  readonly #takenKeys = new Set<string>();
  readonly #tenantId: string;
  readonly #random: SeededRandom;
  readonly #writer: CommitWriter;

  constructor(options: { readonly tenantId: string; readonly random: SeededRandom; readonly writer: CommitWriter }) {
    this.#tenantId = options.tenantId;
    this.#random = options.random;
    this.#writer = options.writer;
  }

  /** Names a brand, or renames one. */
  next(): CommitRecord {
    const name = this.#freeName();
    if (this.#streams.length < BRANDS_MAX) return this.#name(name);
    const stream = this.#streams[this.#random.integer(0, BRANDS_MAX - 1)];
    return stream === undefined ? this.#name(name) : this.#rename(stream, name);
  }

  #name(name: string): CommitRecord {
    const id = `brand-${String(this.#streams.length + 1).padStart(2, '0')}`;
    const stream = newStream<BrandState>({
      aggregateName: 'brand',
      tenantId: this.#tenantId,
      id,
      ownerId: '',
      state: { id, name },
    });
    this.#streams.push(stream);
    return this.#commit(stream, { name: 'brand_named', body: { name } }, { held: [name], released: [] });
  }

  #rename(stream: Stream<BrandState>, to: string): CommitRecord {
    const from = stream.state.name;
    stream.state = { ...stream.state, name: to };
    return this.#commit(stream, { name: 'brand_renamed', body: { from, to } }, { held: [to], released: [from] });
  }

  #commit(
    stream: Stream<BrandState>,
    event: EventIn<BrandEvents>,
    names: { readonly held: readonly string[]; readonly released: readonly string[] },
  ): CommitRecord {
    for (const name of names.held) this.#takenKeys.add(keyOf(name));
    for (const name of names.released) this.#takenKeys.delete(keyOf(name));
    return this.#writer.commit(stream, [event], {
      reservations: {
        attempt: this.#writer.nextId(),
        held: names.held.map(reservationKey),
        released: names.released.map(reservationKey),
      },
    });
  }

  #freeName(): string {
    const name = someBrandName(this.#random);
    let free = name;
    for (let number = 2; this.#takenKeys.has(keyOf(free)); number += 1) free = `${name} ${number}`;
    return free;
  }
}

/** Names that differ only in case or in blanks around them are one name. */
function keyOf(name: string): string {
  return name.trim().toLowerCase();
}

function reservationKey(name: string): { readonly namespace: string; readonly key: string } {
  return { namespace: NAMESPACE, key: keyOf(name) };
}
