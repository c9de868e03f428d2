import { Writable } from 'node:stream';
import { Terminal } from '../../src/cli/screen/terminal.ts';

/** A stream that keeps what is written to it. */
export class MemoryStream extends Writable {
  readonly isTTY: boolean;
  text = '';

  constructor(options: { readonly isTTY?: boolean } = {}) {
    super();
    this.isTTY = options.isTTY ?? false;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export type MemoryTerminal = {
  readonly terminal: Terminal;
  readonly output: MemoryStream;
  readonly error: MemoryStream;
};

export function memoryTerminal(options: { readonly isTTY?: boolean } = {}): MemoryTerminal {
  const output = new MemoryStream(options);
  const error = new MemoryStream(options);
  return { terminal: new Terminal({ output, error }), output, error };
}
