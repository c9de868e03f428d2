/** Chance that a seed decides: the same seed gives the same numbers on every machine. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not give similar numbers, and the state must never be 0.
    this.#state = Math.imul(seed ^ 0x9e_37_79_b9, 0x85_eb_ca_6b) >>> 0 || 1;
  }

  /** A number in [0, 1). */
  next(): number {
    return this.bits() / 4_294_967_296;
  }

  /** The next 32 bits of a xorshift generator, as an unsigned integer. */
  bits(): number {
    let bits = this.#state;
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    this.#state = bits >>> 0;
    return this.#state;
  }

  /** An integer in [from, to]. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  /** `digits` hexadecimal digits, an even number of them. */
  hex(digits: number): string {
    let text = '';
    let bits = 0;
    for (let bytes = digits / 2; bytes > 0; bytes -= 1) {
      bits = bits <= 0xff ? this.bits() : bits >>> 8;
      text += hexOfByte[bits & 0xff] ?? '';
    }
    return text;
  }
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
