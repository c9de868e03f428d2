import type { ModelShape } from '../../../read-models/model-shape.ts';
import type { Refusal, WritePlan } from '../../../read-models/write-plan.ts';
import { assert } from '../../../runtime/assert.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { isNotUnique } from '../database/sqlite-error.ts';
import type { EncodedRow } from './row-table.ts';

/** What one row may take. MongoDB's limit with some room: both stores refuse the same rows. */
const rowBytesMax = 15 * 1024 * 1024;

type Reason = Pick<Refusal, 'code' | 'message' | 'isRecoverable'>;

/** The reason if the row is larger than a store takes. */
export function tooLarge(model: ModelShape, { id, columns, bytesMax }: EncodedRow): Reason | undefined {
  if (bytesMax <= rowBytesMax) return undefined;
  const bytes = Math.max(...columns.map((column) => (typeof column === 'string' ? Buffer.byteLength(column) : 0)));
  if (bytes <= rowBytesMax) return undefined;
  return {
    code: 'ROW_TOO_LARGE',
    message: `The row ${id} of ${model.name} takes ${bytes} bytes; the limit is ${rowBytesMax}.`,
    isRecoverable: false,
  };
}

/** Why SQLite refused the row. */
export function refusedBy(model: ModelShape, id: string, thrown: unknown): Reason {
  const said = messageOf(thrown);
  if (isNotUnique(thrown)) {
    const index = /index '(.*)'/.exec(said)?.[1] ?? said;
    return {
      code: 'ROW_NOT_UNIQUE',
      message: `The row ${id} of ${model.name} has what another row has under the unique index ${index}.`,
      isRecoverable: true,
    };
  }
  return {
    code: 'ROW_REFUSED',
    message: `The row ${id} of ${model.name} was refused by the store: ${said}.`,
    isRecoverable: false,
  };
}

/** One refusal for each aggregate the row is written for. */
export function refusalsOf(plan: WritePlan, model: ModelShape, refused: { readonly id: string } & Reason): Refusal[] {
  const { id, code, message, isRecoverable } = refused;
  const refs = plan.refsOf({ model, id });
  assert(refs.length > 0, 'a row of a plan is written for somebody', { model: model.name, id });
  return refs.map((ref) => ({ ref, model: model.name, id, code, message, isRecoverable }));
}
