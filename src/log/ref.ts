import { TidemarkError } from '../runtime/errors.ts';
import { decodePart, encodeName, encodePart } from './identity-part.ts';

/** Identity of an aggregate. Any Unicode but lone surrogates. */
export type Ref = {
  readonly context: string;
  readonly aggregate: string;
  readonly tenantId: string;
  readonly id: string;
};

/** The identity string of a ref: `context.aggregate/tenant/id`, each part percent-encoded. Made only by `refOf`. */
export type RefKey = string & { readonly RefKey: unique symbol };

/** A text that should name an aggregate is not in the form that `refOf` gives. */
export class RefMalformedError extends TidemarkError {
  readonly code = 'REF_MALFORMED';
}

/** The aggregate names met last: a batch holds few of them, mostly one. */
let known = { context: '', aggregate: '', name: '.' };

/** `context.aggregate` with both names encoded as in a ref's key. Throws `TEXT_ILL_FORMED`. */
export function aggregateOf({ context, aggregate }: Pick<Ref, 'context' | 'aggregate'>): string {
  if (context !== known.context || aggregate !== known.aggregate) {
    known = { context, aggregate, name: `${encodeName(context)}.${encodeName(aggregate)}` };
  }
  return known.name;
}

/**
 * The identity string of an aggregate. Injective: two refs never give one string, and `parseRef` gives the ref back.
 * Throws `TEXT_ILL_FORMED` for lone surrogates.
 */
export function refOf(ref: Ref): RefKey {
  return `${aggregateOf(ref)}/${encodePart(ref.tenantId)}/${encodePart(ref.id)}` as RefKey;
}

/**
 * The ref behind an identity string. Takes only what `refOf` writes, so that one aggregate has one spelling.
 * Throws `REF_MALFORMED`.
 */
export function parseRef(text: string): Ref {
  const ref = text.isWellFormed() ? splitRef(text) : undefined;
  const spelling = ref === undefined ? undefined : refOf(ref);
  if (ref === undefined || spelling !== text) {
    throw new RefMalformedError(`${JSON.stringify(text.slice(0, 500))} is not a ref`, {
      hint:
        spelling === undefined
          ? 'Write context.aggregate/tenant/id, for example eshop.order/(0)/order-1; a special character in a part is percent-encoded.'
          : `Write it as ${spelling}`,
    });
  }
  return ref;
}

function splitRef(text: string): Ref | undefined {
  const [names, tenant, last, ...more] = text.split('/');
  const [first, second, ...others] = names?.split('.') ?? [];
  if (first === undefined || second === undefined || tenant === undefined || last === undefined) return undefined;
  if (more.length > 0 || others.length > 0) return undefined;
  const [context, aggregate, tenantId, id] = [first, second, tenant, last].map(decodePart);
  if (context === undefined || aggregate === undefined || tenantId === undefined || id === undefined) return undefined;
  return { context, aggregate, tenantId, id };
}
