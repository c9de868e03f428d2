import type { RefKey } from '../../../log/ref.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import type { Refusal, WritePlan } from '../../../read-models/write-plan.ts';
import { assert } from '../../../runtime/assert.ts';
import { type RefusedDocument, violatedIndex } from '../server/mongo-error.ts';
import { type DocumentProblem, documentBytesMax } from './document-check.ts';

type Reason = Pick<Refusal, 'code' | 'message' | 'isRecoverable'>;

/** Why a row is not even sent. */
export function reasonOfProblem(model: ModelShape, id: string, problem: DocumentProblem): Reason {
  switch (problem.kind) {
    case 'too large':
      return {
        code: 'ROW_TOO_LARGE',
        message: `The row ${id} of ${model.name} takes ${problem.bytes} bytes; the limit is ${documentBytesMax}.`,
        isRecoverable: false,
      };
    case 'changed': {
      const place = problem.path === '' ? 'The row itself' : problem.path;
      return {
        code: 'ROW_REFUSED',
        message: `The row ${id} of ${model.name} cannot be stored: ${place} looks like a value of MongoDB's own (it has _bsontype, or $ref and $id).`,
        isRecoverable: false,
      };
    }
    default:
      return problem satisfies never;
  }
}

/** Why the server refused a row. */
export function reasonOfRefusal(model: ModelShape, id: string, refused: RefusedDocument): Reason {
  const index = violatedIndex(refused);
  if (index !== undefined) {
    return {
      code: 'ROW_NOT_UNIQUE',
      message: `The row ${id} of ${model.name} has what another row has under the unique index ${index}.`,
      isRecoverable: true,
    };
  }
  return {
    code: 'ROW_REFUSED',
    message: `The row ${id} of ${model.name} was refused by the store: ${refused.said}.`,
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

/** A source record is beyond the limit: it parks its aggregate, as a row does. */
export function sourceTooLarge(ref: RefKey, bytes: number): Refusal {
  return {
    ref,
    model: '',
    id: ref,
    code: 'ROW_TOO_LARGE',
    message: `The source record of ${ref} takes ${bytes} bytes; the limit is ${documentBytesMax}.`,
    isRecoverable: false,
  };
}
