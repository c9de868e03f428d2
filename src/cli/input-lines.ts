import { isUtf8 } from 'node:buffer';
import { TidemarkError } from '../runtime/errors.ts';

/** An input of lines is none: not UTF-8, or a line beyond all bounds. */
class InputMalformedError extends TidemarkError {
  readonly code = 'INPUT_MALFORMED';
}

const LINE_BYTES_MAX = 64 * 1024 * 1024;
const LINE_FEED = 10;

/**
 * Lines of a stream of bytes, without their line feeds, in bounded memory. Bytes that are no UTF-8 are never replaced:
 * throws `INPUT_MALFORMED` with the line. `onBytes` is told how much was read.
 */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<string> {
  let line = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  const toText = (bytes: Buffer): string => {
    line += 1;
    if (isUtf8(bytes)) return bytes.toString('utf8');
    throw malformed(line, 'is not UTF-8');
  };
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    onBytes(bytes.length);
    let from = 0;
    for (let to = bytes.indexOf(LINE_FEED); to >= 0; to = bytes.indexOf(LINE_FEED, from)) {
      const tail = bytes.subarray(from, to);
      yield toText(rest.length === 0 ? tail : Buffer.concat([...rest, tail]));
      rest = [];
      restBytes = 0;
      from = to + 1;
    }
    if (from === bytes.length) continue;
    rest.push(bytes.subarray(from));
    restBytes += bytes.length - from;
    if (restBytes > LINE_BYTES_MAX) throw malformed(line + 1, `is longer than ${LINE_BYTES_MAX} bytes`);
  }
  if (restBytes > 0) yield toText(Buffer.concat(rest));
}

function malformed(line: number, what: string): InputMalformedError {
  return new InputMalformedError(`Line ${line} of the input ${what}`, {
    details: { line },
    hint: 'Give UTF-8 text with one JSON object a line.',
  });
}
