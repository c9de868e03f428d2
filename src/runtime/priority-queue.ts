import { assert } from './assert.ts';

/** What is pushed comes out lowest first, in O(log n). Equal ones come out in no certain order. */
export class PriorityQueue<Item> {
  readonly #rank: (item: Item) => number;
  /** A binary heap: no item ranks below its parent, which stands at (place - 1) / 2. */
  readonly #items: Item[] = [];

  constructor(rank: (item: Item) => number) {
    this.#rank = rank;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The lowest item, which stays. */
  peek(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    let place = this.#items.push(item) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#rankAt(parent) <= this.#rankAt(place)) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  /** Takes the lowest item out. */
  pop(): Item | undefined {
    const lowest = this.#items[0];
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return lowest;
    this.#items[0] = last;
    for (let place = 0; ; ) {
      const left = 2 * place + 1;
      const lower = this.#rankAt(left + 1) < this.#rankAt(left) ? left + 1 : left;
      if (this.#rankAt(place) <= this.#rankAt(lower)) return lowest;
      this.#swap(place, lower);
      place = lower;
    }
  }

  /** Beyond the end nothing is lower. */
  #rankAt(place: number): number {
    const item = this.#items[place];
    return item === undefined ? Number.POSITIVE_INFINITY : this.#rank(item);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#items[one], this.#items[other]];
    assert(a !== undefined && b !== undefined, 'both places are taken', { one, other });
    this.#items[one] = b;
    this.#items[other] = a;
  }
}
