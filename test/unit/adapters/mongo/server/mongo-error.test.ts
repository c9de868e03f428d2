import { MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import {
  isConflict,
  RightsMissingError,
  StoreRefusedError,
  translated,
  violatedIndex,
} from '../../../../../src/adapters/mongo/server/mongo-error.ts';
import { UnavailableError } from '../../../../../src/runtime/errors.ts';

function serverError(code: number, message = 'no', labels: readonly string[] = []): MongoServerError {
  const error = new MongoServerError({ code, message });
  for (const label of labels) error.addErrorLabel(label);
  return error;
}

describe('what the driver throws', () => {
  test.each([
    ['a lost connection', new MongoNetworkError('connection 7 closed')],
    ['a stepping down, whatever its labels', serverError(11602, 'interrupted', ['TransientTransactionError'])],
    ['a commit of unknown outcome', serverError(50, 'late', ['UnknownTransactionCommitResult'])],
    ['a write that the majority did not confirm', serverError(64, 'waiting for replication timed out')],
    ['a full disk', serverError(14031)],
    ['a conflict that nobody ran again', serverError(112)],
  ])('is of unknown outcome after %s', (_what, error) => {
    expect(translated(error, 'a test')).toBeInstanceOf(UnavailableError);
  });

  test.each([
    ['a write conflict', serverError(112, 'WriteConflict')],
    ['a change of the catalog', serverError(246)],
    ['a transaction that was ended', serverError(251, 'no such', ['TransientTransactionError'])],
    [
      'a lost race for an insert',
      serverError(11000, 'E11000 duplicate key error collection: a.b index: _id_ dup key: {'),
    ],
  ])('lets a transaction run again after %s', (_what, error) => {
    expect(isConflict(error)).toBe(true);
  });

  test('does not run again what will not change', () => {
    expect(isConflict(serverError(11000, 'E11000 … collection: a.b index: declared__a_1_unique dup key: {'))).toBe(
      false,
    );
    expect(isConflict(serverError(10107, 'not primary', ['TransientTransactionError']))).toBe(false);
    expect(isConflict(new Error('a defect'))).toBe(false);
  });

  test('says what is refused, and names the unique index', () => {
    expect(translated(serverError(13, 'not authorized'), 'a test')).toBeInstanceOf(RightsMissingError);
    const refused = translated(serverError(18, 'Authentication failed.'), 'a test');
    expect(refused).toBeInstanceOf(StoreRefusedError);
    expect(refused).toMatchObject({ hint: expect.stringContaining('password') as string });
    const said = 'E11000 duplicate key error collection: a.b index: declared__email_1_unique dup key: { email: "x" }';
    expect(violatedIndex({ code: 11000, said })).toBe('declared__email_1_unique');
    expect(violatedIndex({ code: 121, said: 'Document failed validation' })).toBeUndefined();
  });

  test('is left as it is where it is not the driver’s', () => {
    const defect = new TypeError('a defect');
    expect(translated(defect, 'a test')).toBe(defect);
  });
});
