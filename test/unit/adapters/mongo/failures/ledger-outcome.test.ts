import { describe, expect, test } from 'vitest';
import { decideLedger, type StandingEntry } from '../../../../../src/adapters/mongo/failures/ledger-outcome.ts';
import type { Failure, LedgerEntry, SequenceKey } from '../../../../../src/failures/failure.ts';
import { LedgerConflictError } from '../../../../../src/failures/ledger-conflict-error.ts';
import type { RefKey } from '../../../../../src/log/ref.ts';

const scope = { subscription: 'Orders.onEvent', generation: 1 };
const failure: Failure = {
  cause: { name: 'Error', code: 'HANDLER_FAILED', message: 'no', stack: '', causes: [] },
  isRecoverable: true,
  attempts: 1,
  firstFailedAtMs: 1,
  lastFailedAtMs: 1,
  nextRetryAtMs: undefined,
};

function entryAt(offset: number, version = 1): LedgerEntry {
  const position = { topic: 't', partition: 0, offset };
  return {
    sequence: 'ref:a' as SequenceKey,
    position,
    ref: 'a' as RefKey,
    version,
    commitId: `c-${offset}`,
    record: { ...position, timestamp: 0, key: 'a', value: '{}', headers: [] },
    failure: undefined,
    parkedAtMs: 0,
  };
}

function standing(offset: number): StandingEntry {
  const { position, commitId, version } = entryAt(offset);
  return { position, commitId, version };
}

describe('changes of the ledger', () => {
  test('insert what is not there, and nothing twice', () => {
    const entry = entryAt(1);
    const park = { kind: 'park', entry } as const;
    expect(decideLedger(scope, [park, park], [])).toEqual({ removes: [], fails: [], inserts: [entry] });
    expect(decideLedger(scope, [park], [standing(1)])).toEqual({ removes: [], fails: [], inserts: [] });
  });

  test('follow each other at one position', () => {
    const entry = entryAt(1);
    const { position } = entry;
    const changes = [
      { kind: 'park', entry },
      { kind: 'fail', position, failure },
    ] as const;
    expect(decideLedger(scope, changes, [])).toMatchObject({ inserts: [{ ...entry, failure }] });
    expect(decideLedger(scope, [...changes, { kind: 'remove', position }], [])).toEqual({
      removes: [],
      fails: [],
      inserts: [],
    });
    const again = entryAt(1, 7);
    const replaced = decideLedger(
      scope,
      [
        { kind: 'remove', position },
        { kind: 'park', entry: again },
      ],
      [standing(1)],
    );
    expect(replaced).toEqual({ removes: [position], fails: [], inserts: [again] });
  });

  test('fail and remove what stands there', () => {
    const [one, two] = [standing(1), standing(2)];
    const changes = [
      { kind: 'fail', position: one.position, failure },
      { kind: 'remove', position: two.position },
      { kind: 'remove', position: entryAt(3).position },
    ] as const;
    expect(decideLedger(scope, changes, [one, two])).toEqual({
      removes: [two.position],
      fails: [{ position: one.position, failure }],
      inserts: [],
    });
  });

  test('do not park over another commit, and pass over a failure of what is not there', () => {
    const park = { kind: 'park', entry: entryAt(1, 9) } as const;
    expect(() => decideLedger(scope, [park], [standing(1)])).toThrow(LedgerConflictError);
    const { position } = entryAt(1);
    const fail = { kind: 'fail', position, failure } as const;
    expect(decideLedger(scope, [fail], [])).toEqual({ removes: [], fails: [], inserts: [] });
    const gone = { kind: 'remove', position } as const;
    expect(decideLedger(scope, [gone, fail], [standing(1)])).toEqual({ removes: [position], fails: [], inserts: [] });
  });
});
