import type { RefKey } from '../../log/ref.ts';
import type { RowKey } from '../stored-row.ts';
import type { Refusal } from '../write-plan.ts';

/** `Row "id" of model`, to begin a sentence with. */
export function rowLabel({ model, id }: RowKey): string {
  return `Row ${JSON.stringify(id)} of ${model.name}`;
}

export function rowForeign(row: RowKey, ref: RefKey, owner: RefKey): Refusal {
  return refusal(row, ref, {
    code: 'ROW_FOREIGN',
    message: `${rowLabel(row)} belongs to ${owner}; ${ref} cannot write it`,
  });
}

export function rowHeld(row: RowKey, ref: RefKey, owner: RefKey): Refusal {
  return {
    ...refusal(row, ref, {
      code: 'ROW_HELD',
      message: `${rowLabel(row)} is held by ${owner}; ${ref} cannot take it yet`,
    }),
    isRecoverable: true,
  };
}

/** A refusal that time does not heal. */
export function refusal(
  row: RowKey,
  ref: RefKey,
  { code, message }: { readonly code: string; readonly message: string },
): Refusal {
  return { ref, model: row.model.name, id: row.id, code, message, isRecoverable: false };
}
