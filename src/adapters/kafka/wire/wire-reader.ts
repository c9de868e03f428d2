import { WireError } from './wire-error.ts';

const TWO_32 = 2 ** 32;
/** A 64-bit number takes ten bytes of seven bits each. */
const VARINT_BYTES_MAX = 10;

/** Reads the primitives of Kafka's protocol from bytes, in order. Every read is bounded; throws `WireError`. */
export class WireReader {
  readonly bytes: Buffer;
  /** Where the next read begins. */
  at: number;
  readonly end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get left(): number {
    return this.end - this.at;
  }

  int8(): number {
    return this.bytes.readInt8(this.#advance(1));
  }

  int16(): number {
    return this.bytes.readInt16BE(this.#advance(2));
  }

  int32(): number {
    return this.bytes.readInt32BE(this.#advance(4));
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.#advance(4));
  }

  /** Numbers beyond what is exact are refused: no offset, time or producer is that large. */
  int64(): number {
    const at = this.#advance(8);
    const value = this.bytes.readInt32BE(at) * TWO_32 + this.bytes.readUInt32BE(at + 4);
    if (!Number.isSafeInteger(value)) throw new WireError('a 64-bit number is out of range');
    return value;
  }

  uvarint(): number {
    const { bytes, end } = this;
    let at = this.at;
    let value = 0;
    let scale = 1;
    for (let count = 0; count < VARINT_BYTES_MAX && at < end; count += 1) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (!Number.isSafeInteger(value)) break;
        this.at = at;
        return value;
      }
      scale *= 128;
    }
    throw new WireError('a number of variable length is cut or out of range');
  }

  varint(): number {
    const byte = this.bytes[this.at] ?? 0x80;
    if (byte < 0x80 && this.at < this.end) {
      this.at += 1;
      return (byte >>> 1) ^ -(byte & 1);
    }
    const value = this.uvarint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** The next bytes as they lie there, not copied. */
  slice(length: number): Buffer {
    const at = this.#advance(length);
    return this.bytes.subarray(at, at + length);
  }

  skip(length: number): void {
    this.#advance(length);
  }

  /** A topic's id, as 32 hexadecimal digits. */
  uuid(): string {
    const at = this.#advance(16);
    return this.bytes.toString('hex', at, at + 16);
  }

  compactString(): string | undefined {
    return this.compactBytes()?.toString('utf8');
  }

  compactBytes(): Buffer | undefined {
    const length = this.uvarint() - 1;
    return length < 0 ? undefined : this.slice(length);
  }

  /** A null is an empty array. */
  compactArray<T>(readItem: () => T): readonly T[] {
    const length = this.uvarint() - 1;
    // An item has a byte at least.
    if (length > this.left) throw new WireError('an array is longer than what is left');
    const items: T[] = [];
    for (let count = 0; count < length; count += 1) items.push(readItem());
    return items;
  }

  /** Skips what newer brokers add to a structure. */
  tags(): void {
    for (let count = this.uvarint(); count > 0; count -= 1) {
      this.uvarint();
      this.skip(this.uvarint());
    }
  }

  #advance(length: number): number {
    const at = this.at;
    if (length < 0 || length > this.end - at) throw new WireError('the bytes end too early');
    this.at = at + length;
    return at;
  }
}
