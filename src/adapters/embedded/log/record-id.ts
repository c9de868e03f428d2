import { assert } from '../../../runtime/assert.ts';

const offsetsPerStream = 2 ** 36;
const streamsMax = 2 ** 17 - 1;

/** Offsets whose latest timestamp is kept together, to find an instant without reading every record. */
export const blockSize = 4_096;

/** Records stand in one table in the order of stream (a partition of a topic), then offset: their id holds both. */
export function recordId(stream: number, offset: number): number {
  assert(stream <= streamsMax && offset < offsetsPerStream, 'streams and offsets fit into an id', { stream, offset });
  return stream * offsetsPerStream + offset;
}

export function offsetOfRecord(id: number): number {
  return id % offsetsPerStream;
}

export function streamOfRecord(id: number): number {
  return Math.floor(id / offsetsPerStream);
}
