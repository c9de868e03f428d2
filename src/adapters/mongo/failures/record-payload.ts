import type { LogRecord, RecordText } from '../../../log/record.ts';

/** What of a record is kept apart from its entry: it may be larger than a document can be. */
export type Payload = Pick<LogRecord, 'key' | 'value' | 'headers'>;

/** Text, null, or `{bytes: base64}`. */
type EncodedText = string | null | { readonly bytes: string };
type EncodedPayload = {
  readonly key: EncodedText;
  readonly value: EncodedText;
  readonly headers: readonly (readonly [string, EncodedText])[];
};

/** A document takes 16 MiB; half of it leaves room for everything else. */
const pieceBytesMax = 8 * 1024 * 1024;

/** The payload in pieces, at least one. Joined they are JSON. */
export function toPieces({ key, value, headers }: Payload): readonly Buffer[] {
  const encoded: EncodedPayload = {
    key: encode(key),
    value: encode(value),
    headers: headers.map(([name, text]) => [name, encode(text)]),
  };
  const bytes = Buffer.from(JSON.stringify(encoded));
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += pieceBytesMax) {
    pieces.push(bytes.subarray(from, from + pieceBytesMax));
  }
  return pieces;
}

/** The payload that `toPieces` cut up. */
export function fromPieces(pieces: readonly Uint8Array[]): Payload {
  const { key, value, headers } = JSON.parse(Buffer.concat(pieces).toString('utf8')) as EncodedPayload;
  return {
    key: decode(key),
    value: decode(value),
    headers: headers.map(([name, text]) => [name, decode(text)]),
  };
}

function encode(text: RecordText): EncodedText {
  if (text === undefined) return null;
  return typeof text === 'string' ? text : { bytes: Buffer.from(text).toString('base64') };
}

function decode(text: EncodedText): RecordText {
  if (text === null) return undefined;
  return typeof text === 'string' ? text : Buffer.from(text.bytes, 'base64');
}
