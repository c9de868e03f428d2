import { TidemarkError } from '../../runtime/errors.ts';
import type { RowKey } from '../stored-row.ts';
import { rowLabel } from './refusal.ts';

/** A stored row was written by a read model of another kind under the same name. */
export class ModelKindChangedError extends TidemarkError {
  readonly code = 'MODEL_KIND_CHANGED';

  constructor(row: RowKey, guard: string) {
    super(`${rowLabel(row)} has a guard of kind ${guard}, which the kind ${row.model.kind} does not write`, {
      details: { model: row.model.name, id: row.id },
      hint: 'Rebuild the read model, or define the new one under another name.',
    });
  }
}
