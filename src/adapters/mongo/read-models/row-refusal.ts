import {
  type RefusalReason,
  rowBytesMax,
  rowNotUnique,
  rowRefused,
  rowTooLarge,
} from '../../../read-models/row-refusal.ts';
import type { RowKey } from '../../../read-models/stored-row.ts';
import { type RefusedDocument, violatedIndex } from '../server/mongo-error.ts';
import type { DocumentProblem } from './document-check.ts';

/** Why a row is not even sent. */
export function reasonOfProblem(row: RowKey, problem: DocumentProblem): RefusalReason {
  switch (problem.kind) {
    case 'too large':
      return rowTooLarge(row, problem.bytes, rowBytesMax);
    case 'changed': {
      const place = problem.path === '' ? 'The row itself' : problem.path;
      return {
        code: 'ROW_REFUSED',
        message: `The row ${row.id} of ${row.model.name} cannot be stored: ${place} looks like a value of MongoDB's own (it has _bsontype, or $ref and $id).`,
        isRecoverable: false,
      };
    }
    default:
      return problem satisfies never;
  }
}

/** Why the server refused a row. */
export function reasonOfRefusal(row: RowKey, refused: RefusedDocument): RefusalReason {
  const index = violatedIndex(refused);
  return index === undefined ? rowRefused(row, refused.said) : rowNotUnique(row, index);
}
