import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linesOf } from '../../../src/cli/input-lines.ts';

async function* chunks(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    await Promise.resolve();
    yield part;
  }
}

async function read(parts: readonly Uint8Array[]): Promise<{ lines: readonly string[]; bytes: number }> {
  const lines: string[] = [];
  let bytes = 0;
  for await (const line of linesOf(chunks(parts), (more) => (bytes += more))) lines.push(line);
  return { lines, bytes };
}

describe('lines of an input', () => {
  test('are the same however the bytes come', async () => {
    const lines = fc.array(
      fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', '')),
      { minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(lines, fc.array(fc.nat(40)), async (expected, cuts) => {
        const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''));
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const parts = at.slice(1).map((to, index) => bytes.subarray(at[index], to));
        expect(await read(parts)).toEqual({ lines: expected, bytes: bytes.length });
      }),
    );
  });

  test('include the last one without its line feed, and empty ones', async () => {
    expect((await read([Buffer.from('a\n\nb')])).lines).toEqual(['a', '', 'b']);
    expect((await read([])).lines).toEqual([]);
  });

  test('that are not UTF-8 are refused by number, never altered', async () => {
    const bytes = Buffer.concat([Buffer.from('one\n'), Buffer.from([0xc3, 0x28, 0x0a])]);
    await expect(read([bytes])).rejects.toMatchObject({ code: 'INPUT_MALFORMED', details: { line: 2 } });
  });

  test('beyond all bounds are refused before memory is gone', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    await expect(read([Buffer.from('a\n'), ...Array.from({ length: 70 }, () => mebibyte)])).rejects.toMatchObject({
      code: 'INPUT_MALFORMED',
      details: { line: 2 },
    });
  });
});
