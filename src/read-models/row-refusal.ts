import type { RefKey } from '../log/ref.ts';
import { assert } from '../runtime/assert.ts';
import type { RowKey } from './stored-row.ts';
import type { Refusal, WritePlan } from './write-plan.ts';

/** What one row may take on any store. MongoDB's limit with some room: all stores refuse the same rows. */
export const rowBytesMax = 15 * 1024 * 1024;

/** Why a store does not take a row. */
export type RefusalReason = Pick<Refusal, 'code' | 'message' | 'isRecoverable'>;

/** It is larger than `bytesMax`. */
export function rowTooLarge({ model, id }: RowKey, bytes: number, bytesMax: number): RefusalReason {
  return {
    code: 'ROW_TOO_LARGE',
    message: `The row ${id} of ${model.name} takes ${bytes} bytes; the limit is ${bytesMax}.`,
    isRecoverable: false,
  };
}

/** Another row has what it has under a unique index; that one may let go of it. */
export function rowNotUnique({ model, id }: RowKey, index: string): RefusalReason {
  return {
    code: 'ROW_NOT_UNIQUE',
    message: `The row ${id} of ${model.name} has what another row has under the unique index ${index}.`,
    isRecoverable: true,
  };
}

/** Whatever else the store says. */
export function rowRefused({ model, id }: RowKey, said: string): RefusalReason {
  return {
    code: 'ROW_REFUSED',
    message: `The row ${id} of ${model.name} was refused by the store: ${said}.`,
    isRecoverable: false,
  };
}

/** One refusal for each aggregate the row is written for. */
export function refusalsOf(plan: WritePlan, { model, id }: RowKey, reason: RefusalReason): readonly Refusal[] {
  const refs = plan.refsOf({ model, id });
  assert(refs.length > 0, 'a row of a plan is written for somebody', { model: model.name, id });
  return refs.map((ref) => ({ ref, model: model.name, id, ...reason }));
}

/** A source record is beyond the limit: it parks its aggregate, as a row does. */
export function sourceTooLarge(ref: RefKey, bytes: number): Refusal {
  return {
    ref,
    model: '',
    id: ref,
    code: 'ROW_TOO_LARGE',
    message: `The source record of ${ref} takes ${bytes} bytes; the limit is ${rowBytesMax}.`,
    isRecoverable: false,
  };
}
