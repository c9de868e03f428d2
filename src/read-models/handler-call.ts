import { TidemarkError } from '../runtime/errors.ts';
import { amountsOf, canonicalRow } from './canonical-row.ts';
import type { HandlerCall } from './handled-commit.ts';
import type { ModelKind, ModelShape } from './model-shape.ts';
import { nameOf } from './row-problem.ts';
import { isPlainObject, type PlainObject } from './storable.ts';
import { rowKeyOf } from './stored-row.ts';
import type { Write } from './write.ts';

/** A handler returned something else than writes. */
export class HandlerResultInvalidError extends TidemarkError {
  readonly code = 'HANDLER_RESULT_INVALID';
}

/** A handler wrote to a read model that its function does not name. */
export class ModelNotDeclaredError extends TidemarkError {
  readonly code = 'MODEL_NOT_DECLARED';
}

/** One call of a handler wrote twice to one row: which of the two was meant cannot be told. */
export class RowWrittenTwiceError extends TidemarkError {
  readonly code = 'ROW_WRITTEN_TWICE';
}

/** One call of a handler used both writes of a totals model. */
export class TotalsMixedError extends TidemarkError {
  readonly code = 'TOTALS_MIXED';
}

/**
 * Reads what one call of a projection's handler returned: nothing, one write, or an array of writes, to models in
 * `models`. Rows and amounts of the result are canonical.
 *
 * Throws, and time does not heal it: `HANDLER_RESULT_INVALID`, `MODEL_NOT_DECLARED`, `ROW_INVALID`,
 * `ROW_WRITTEN_TWICE`, `TOTALS_MIXED`.
 */
export function handlerCall(eventIndex: number, result: unknown, models: readonly ModelShape[]): HandlerCall {
  if (result === undefined) return { eventIndex, writes: noWrites };
  disown(result);
  if (!Array.isArray(result)) return { eventIndex, writes: [writeOf(result, undefined, models)] };
  // With holes as what they read as: nothing is passed over.
  const all: readonly unknown[] = Array.from(result);
  all.forEach(disown);
  const writes = all.map((each, place) => writeOf(each, place, models));
  checkCall(writes);
  return { eventIndex, writes };
}

const noWrites: readonly Write[] = [];

/** A promise is no result and nobody will wait for it: that it rejects must not end the process. */
function disown(value: unknown): void {
  if (value instanceof Promise) value.catch(() => undefined);
}

/**
 * Throws where one call writes twice to one row (`ROW_WRITTEN_TWICE`) or adds and contributes to one model
 * (`TOTALS_MIXED`).
 */
function checkCall(writes: readonly Write[]): void {
  if (writes.length < 2) return;
  const rows = new Set<string>();
  const totals = new Map<string, Write['kind']>();
  for (const { kind, model, id } of writes) {
    const key = rowKeyOf(model, id);
    if (rows.has(key)) {
      throw new RowWrittenTwiceError(
        `A handler wrote twice to row ${JSON.stringify(id)} of ${model.name} in one call`,
        {
          details: { model: model.name, id },
          hint: 'Let the handler return one write per row; to replace a row, put it without removing it first.',
        },
      );
    }
    rows.add(key);
    if (model.kind !== 'totals') continue;
    if ((totals.get(model.name) ?? kind) !== kind) {
      throw new TotalsMixedError(`A handler both added and contributed to ${model.name}`, {
        details: { model: model.name, id },
        hint: 'Use either add or contribute in one totals model.',
      });
    }
    totals.set(model.name, kind);
  }
}

const kindsOfWrite: Readonly<Record<ModelKind, readonly string[]>> = {
  rows: ['put', 'remove'],
  moves: ['put', 'remove'],
  joined: ['part', 'remove'],
  totals: ['contribute', 'add'],
};

function subjectOf(place: number | undefined): string {
  return place === undefined ? 'What a handler' : `Place ${place} of what a handler`;
}

/** A write that a model made, canonical. Writes made by hand are looked through like any other value. */
function writeOf(value: unknown, place: number | undefined, models: readonly ModelShape[]): Write {
  if (!isPlainObject(value) || typeof value['id'] !== 'string' || !isPlainObject(value['model'])) {
    throw new HandlerResultInvalidError(`${subjectOf(place)} returned is ${nameOf(value)}, not a write`, {
      hint: 'A projection handler is synchronous and returns nothing, one write of a read model, or an array of them.',
    });
  }
  const model = declaredModel(value['model'], models);
  if (typeof value['kind'] !== 'string' || !kindsOfWrite[model.kind].includes(value['kind'])) {
    throw new HandlerResultInvalidError(`${subjectOf(place)} returned is no write of a model of kind ${model.kind}`, {
      details: { model: model.name, id: value['id'] },
      hint: 'Make writes by the methods of the read model.',
    });
  }
  return canonicalWrite(value, { model, id: value['id'] });
}

function declaredModel(model: PlainObject, models: readonly ModelShape[]): ModelShape {
  const declared = models.find((each) => each === model) ?? models.find((each) => each.name === model['name']);
  if (declared !== undefined) return declared;
  throw new ModelNotDeclaredError(`A handler wrote to ${String(model['name'])}, which its function does not name`, {
    details: { model: model['name'], declared: models.map((each) => each.name) },
    hint: 'Name every read model that the function writes, in the first argument of into(…).',
  });
}

/** Member by member: copying them over costs more than the rest. */
function canonicalWrite(value: PlainObject, row: { readonly model: ModelShape; readonly id: string }): Write {
  const { model, id } = row;
  switch (value['kind']) {
    case 'put':
      return { kind: 'put', model, id, row: canonicalRow(value['row'], row) };
    case 'part':
      return { kind: 'part', model, id, fields: canonicalRow(value['fields'], row) };
    case 'contribute':
      return { kind: 'contribute', model, id, amounts: amountsOf(value['amounts'], row) };
    case 'add':
      return { kind: 'add', model, id, amounts: amountsOf(value['amounts'], row) };
    default:
      return { kind: 'remove', model, id };
  }
}
