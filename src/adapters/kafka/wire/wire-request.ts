import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

/** One kind of request in one version, always a flexible one. */
export type WireApi = { readonly apiKey: number; readonly apiVersion: number; readonly apiName: string };

/** A request and how to read what it is answered with. */
export type WireRequest<T> = WireApi & {
  readonly write: (to: WireWriter) => void;
  readonly read: (from: WireReader) => T;
};
