import { crc32c } from '../../../../../src/adapters/kafka/batches/crc32c.ts';
import { WireWriter } from '../../../../../src/adapters/kafka/wire/wire-writer.ts';

export type BatchRecord = {
  readonly offsetDelta?: number;
  readonly timestampDelta?: number;
  readonly key?: Buffer | undefined;
  readonly value?: Buffer | undefined;
  readonly headers?: readonly (readonly [string, Buffer | undefined])[];
};

export type BatchShape = {
  readonly firstOffset?: number;
  readonly lastOffsetDelta?: number;
  readonly timestamp?: number;
  readonly maxTimestamp?: number;
  readonly producerId?: number;
  /** Bits of the attributes: 0–2 codec, 3 stamped by the log, 4 transactional, 5 control. */
  readonly attributes?: number;
  readonly compress?: (bytes: Buffer) => Buffer;
};

export const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

/** A record batch, as a producer or a broker would write it. */
export function recordBatch(records: readonly BatchRecord[], shape: BatchShape = {}): Buffer {
  const { firstOffset = 0, timestamp = 0, producerId = -1, attributes = 0, compress = (bytes) => bytes } = shape;
  const bodies = Buffer.concat(records.map((record, index) => recordBytes(record, index)));
  const checked = new WireWriter()
    .int16(attributes)
    .int32(shape.lastOffsetDelta ?? Math.max(0, records.length - 1))
    .int64(timestamp)
    .int64(shape.maxTimestamp ?? timestamp)
    .int64(producerId)
    .int16(0)
    .int32(-1)
    .int32(records.length)
    .raw(compress(bodies)).bytes;
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32c(checked));
  const inner = new WireWriter().int32(0).int8(2).raw(crc).raw(checked).bytes;
  return new WireWriter().int64(firstOffset).int32(inner.length).raw(inner).bytes;
}

/** What ends a transaction. */
export function controlBatch(type: 'abort' | 'commit', shape: BatchShape): Buffer {
  const key = new WireWriter().int16(0).int16(type === 'abort' ? 0 : 1).bytes;
  return recordBatch([{ key, value: Buffer.alloc(6) }], { ...shape, attributes: TRANSACTIONAL | CONTROL });
}

function recordBytes(
  { offsetDelta, timestampDelta = 0, key, value, headers = [] }: BatchRecord,
  index: number,
): Buffer {
  const body = new WireWriter()
    .int8(0)
    .varint(timestampDelta)
    .varint(offsetDelta ?? index);
  for (const text of [key, value]) writeText(body, text);
  body.varint(headers.length);
  for (const [name, text] of headers) {
    writeText(body, Buffer.from(name));
    writeText(body, text);
  }
  const { bytes } = body;
  return new WireWriter().varint(bytes.length).raw(bytes).bytes;
}

function writeText(to: WireWriter, text: Buffer | undefined): void {
  if (text === undefined) to.varint(-1);
  else to.varint(text.length).raw(text);
}
