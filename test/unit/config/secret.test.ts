import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { formatProblem } from '../../../src/config/config-error.ts';
import { leafOf } from '../../../src/config/leaf.ts';
import { secretText } from '../../../src/config/leaves.ts';
import { checkValues } from '../../../src/config/load.ts';
import { Secret } from '../../../src/config/secret.ts';

const schema = z.strictObject({ token: secretText('A token.') });
const origin = { kind: 'environment', variable: 'TIDEMARK_TOKEN' } as const;

test('a secret shows itself only to whoever asks for it', () => {
  const { values } = checkValues(schema, [{ path: ['token'], value: 'hunter2', origin }]);
  const token = values?.token;
  expect(token?.reveal()).toBe('hunter2');
  for (const shown of [`${token?.toString()}`, JSON.stringify({ token }), inspect({ token }, { showHidden: true })]) {
    expect(shown).toContain('[redacted]');
    expect(shown).not.toContain('hunter2');
  }
  expect(leafOf(schema.shape.token)?.print(new Secret('hunter2'))).toBe('[redacted]');
});

test('a secret that is refused is not quoted', () => {
  const { problems } = checkValues(schema, [{ path: ['token'], value: 424_242, origin }]);
  expect(problems.map(formatProblem)).toEqual(['token: expected a secret text, got [redacted] (TIDEMARK_TOKEN)']);
});
