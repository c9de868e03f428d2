import { ModelNameReservedError } from '../../../read-models/model-error.ts';

/** All collections of our own begin with this; no read model may. */
const internalPrefix = 'tm_';

/** The collection of one generation of a model. */
export function collectionOf(model: string, generation: number): string {
  return `${model}__g${generation}`;
}

/** Throws `MODEL_NAME_RESERVED`. */
export function assertNameIsFree(name: string): void {
  if (!name.startsWith(internalPrefix) && !name.startsWith('system.') && !/__g\d+$/.test(name)) return;
  throw new ModelNameReservedError(`The name ${name} is kept for the store's own collections.`, {
    details: { model: name },
    hint: `Choose a name that does not begin with ${internalPrefix} or system., nor end like the collection of a generation.`,
  });
}
