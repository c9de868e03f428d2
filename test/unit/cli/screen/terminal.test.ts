import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Terminal, toJson } from '../../../../src/cli/screen/terminal.ts';
import { MemoryStream, memoryTerminal } from '../../../support/memory-terminal.ts';

describe('a terminal', () => {
  test('waits for a slow reader', async () => {
    const taken: (() => void)[] = [];
    const output = new Writable({ highWaterMark: 4, write: (_chunk, _encoding, done) => void taken.push(done) });
    const terminal = new Terminal({ output, error: new MemoryStream() });
    let isWritten = false;
    const writing = terminal.writeLine('long text').then(() => (isWritten = true));
    await Promise.resolve();
    expect(isWritten).toBe(false);
    taken.shift()?.();
    await writing;
  });

  test('takes a reader that goes away as told, also while it waits for it', async () => {
    const output = new Writable({ highWaterMark: 4, write: () => undefined });
    const terminal = new Terminal({ output, error: new MemoryStream() });
    const writing = terminal.write('long text');
    output.destroy(new Error('write EPIPE'));
    await writing;
    expect(terminal.closed.aborted).toBe(true);
    await terminal.write('more');
    await terminal.flushed();
  });

  test('makes room above a line that is redrawn', () => {
    const { terminal, error } = memoryTerminal();
    terminal.setLiveLine(true);
    terminal.writeError('a\n');
    terminal.setLiveLine(false);
    terminal.writeError('b\n');
    expect(error.text).toBe('\r\u001B[2Ka\nb\n');
  });

  test('is coloured only where the error stream is one, and nobody refused it', () => {
    const output = new MemoryStream();
    const tty = new MemoryStream({ isTTY: true });
    expect(new Terminal({ output, error: tty }).isColored).toBe(true);
    expect(new Terminal({ output, error: tty, isColorRefused: true }).isColored).toBe(false);
    expect(new Terminal({ output: tty, error: output }).isColored).toBe(false);
  });
});

test('JSON keeps integers of any size, and loses no value it has no number for', () => {
  expect(toJson({ a: 12345678901234567890n, b: [1n], c: 'x' })).toBe('{"a":12345678901234567890,"b":[1],"c":"x"}');
  expect(toJson([Number.NaN, Number.NEGATIVE_INFINITY])).toBe('["NaN","-Infinity"]');
});
