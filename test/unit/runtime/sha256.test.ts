import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/runtime/sha256.ts';

const reference = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

test('the published examples hash as published', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('texts of every length around the block size hash as Node hashes them', () => {
  for (let length = 0; length <= 200; length += 1)
    expect(sha256('x'.repeat(length))).toBe(reference('x'.repeat(length)));
});

test('any Unicode text hashes as Node hashes it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(sha256(text)).toBe(reference(text));
    }),
  );
});
