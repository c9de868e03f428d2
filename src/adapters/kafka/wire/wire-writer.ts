/** Writes the primitives of Kafka's protocol, in its flexible encoding. */
export class WireWriter {
  readonly #parts: Buffer[] = [];

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  int8(value: number): this {
    const bytes = Buffer.alloc(1);
    bytes.writeInt8(value);
    return this.raw(bytes);
  }

  int16(value: number): this {
    const bytes = Buffer.alloc(2);
    bytes.writeInt16BE(value);
    return this.raw(bytes);
  }

  int32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return this.raw(bytes);
  }

  int64(value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    return this.raw(bytes);
  }

  boolean(value: boolean): this {
    return this.int8(value ? 1 : 0);
  }

  uvarint(value: number): this {
    const bytes: number[] = [];
    let rest = value;
    while (rest >= 0x80) {
      bytes.push((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
    return this.raw(Buffer.from(bytes));
  }

  varint(value: number): this {
    return this.uvarint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  uuid(hex: string): this {
    return this.raw(Buffer.from(hex, 'hex'));
  }

  compactString(value: string | undefined): this {
    return this.compactBytes(value === undefined ? undefined : Buffer.from(value, 'utf8'));
  }

  compactBytes(value: Buffer | undefined): this {
    if (value === undefined) return this.uvarint(0);
    return this.uvarint(value.length + 1).raw(value);
  }

  compactArray<T>(items: readonly T[], writeItem: (item: T) => void): this {
    this.uvarint(items.length + 1);
    for (const item of items) writeItem(item);
    return this;
  }

  /** None. */
  tags(): this {
    return this.uvarint(0);
  }

  raw(bytes: Buffer): this {
    this.#parts.push(bytes);
    return this;
  }
}
