import { TidemarkError } from '../runtime/errors.ts';

/** A read model's name cannot be the name that readers find it by in the store. */
export class ModelNameReservedError extends TidemarkError {
  readonly code = 'MODEL_NAME_RESERVED';
}

/** A read model of this name is written by another subscription. */
export class ModelHeldError extends TidemarkError {
  readonly code = 'MODEL_HELD';

  constructor(held: { readonly model: string; readonly heldBy: string; readonly subscription: string }) {
    const { model, heldBy, subscription } = held;
    super(`The read model ${model} is written by ${heldBy}, not by ${subscription}.`, {
      details: { model, heldBy, subscription },
      hint: 'A read model has one writer. Name another model, or drop the old one first.',
    });
  }
}

/** What is stored of a read model is of another kind than it is declared as. */
export class ModelKindChangedError extends TidemarkError {
  readonly code = 'MODEL_KIND_CHANGED';

  constructor(changed: { readonly model: string; readonly stored: string; readonly declared: string }) {
    const { model, stored, declared } = changed;
    super(`The read model ${model} is stored as ${stored}, and is declared as ${declared} now.`, {
      details: { model, stored, declared },
      hint: 'A read model keeps its kind. Give the new one another name.',
    });
  }
}

/** A unique index was declared that the rows already there violate. */
export class IndexViolatedError extends TidemarkError {
  readonly code = 'INDEX_VIOLATED';

  constructor(details: { readonly model: string; readonly index: string }, cause: unknown) {
    super(`The unique index ${details.index} does not hold for the rows of ${details.model}.`, {
      details,
      hint: 'Rebuild the model with a changed projection, or declare the index without unique.',
      cause,
    });
  }
}
