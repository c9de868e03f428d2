import { describe, expect, test } from 'vitest';
import { failureCauseOf } from '../../../src/failures/failure-cause.ts';
import { UnavailableError } from '../../../src/runtime/errors.ts';

class CardDeclinedError extends Error {
  override readonly name = 'CardDeclinedError';
}

describe('A failure cause', () => {
  test('names an error with its message and stack', () => {
    const cause = failureCauseOf(new CardDeclinedError('no money'), 'HANDLER_FAILED');
    expect(cause).toMatchObject({ name: 'CardDeclinedError', code: 'HANDLER_FAILED', message: 'no money', causes: [] });
    expect(cause.stack).toContain('failure-cause.test');
  });

  test('has the code of our own errors', () => {
    expect(failureCauseOf(new UnavailableError('away'), 'HANDLER_FAILED').code).toBe('UNAVAILABLE');
  });

  test('keeps the chain of causes, outermost first, and not without end', () => {
    const inner = new CardDeclinedError('no money');
    const outer = new Error('payment failed', { cause: new TypeError('provider', { cause: inner }) });
    expect(failureCauseOf(outer, 'X').causes).toEqual([
      { name: 'TypeError', message: 'provider' },
      { name: 'CardDeclinedError', message: 'no money' },
    ]);
    const circular = new Error('around');
    circular.cause = circular;
    expect(failureCauseOf(circular, 'X').causes).toHaveLength(8);
  });

  test.each([
    ['undefined', undefined, { name: 'undefined', message: 'No error but this was thrown: undefined' }],
    ['null', null, { name: 'object', message: 'No error but this was thrown: null' }],
    ['a text', 'just no', { name: 'string', message: 'No error but this was thrown: just no' }],
    ['an object', { reason: 'no' }, { name: 'object', message: 'No error but this was thrown: {"reason":"no"}' }],
    ['a bigint', 5n, { name: 'bigint', message: 'No error but this was thrown: [object BigInt]' }],
    ['a symbol', Symbol('no'), { name: 'symbol', message: 'No error but this was thrown: Symbol(no)' }],
  ])('is found for %s too', (_what, thrown, described) => {
    expect(failureCauseOf(thrown, 'HANDLER_FAILED')).toEqual({
      ...described,
      code: 'HANDLER_FAILED',
      stack: '',
      causes: [],
    });
  });

  test('is bounded however much was thrown', () => {
    const error = new Error('m'.repeat(1_000_000), { cause: new Error('c'.repeat(1_000_000)) });
    error.stack = 's'.repeat(1_000_000);
    error.name = 'n'.repeat(1_000_000);
    expect(JSON.stringify(failureCauseOf(error, 'X')).length).toBeLessThan(64 * 1024);
  });

  test('can be stored as text whatever the message holds', () => {
    expect(failureCauseOf(new Error('half \ud800'), 'X').message.isWellFormed()).toBe(true);
    expect(failureCauseOf(new Error(`${'x'.repeat(8_191)}😀`), 'X').message.isWellFormed()).toBe(true);
  });

  test('is made also where reading what was thrown throws', () => {
    const hostile = new Proxy(new Error('x'), {
      get: () => {
        throw new Error('unreadable');
      },
    });
    expect(failureCauseOf(hostile, 'HANDLER_FAILED')).toMatchObject({
      code: 'HANDLER_FAILED',
      message: 'A value that cannot be read was thrown.',
    });
    const worse = new Proxy(
      {},
      {
        get: () => {
          throw new Error('unreadable');
        },
        getPrototypeOf: () => {
          throw new Error('unreadable');
        },
      },
    );
    expect(failureCauseOf(worse, 'HANDLER_FAILED').code).toBe('HANDLER_FAILED');
  });
});
