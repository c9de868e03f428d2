import type { IndexShape } from './model-shape.ts';

/**
 * Tells an index by what it is: a changed declaration is another index. No two have one name, also where names that
 * differ only by case are one to the store: in field names `A` stands as `~a`, `_` as `~_`, `~` as `~~`.
 */
export function indexNameOf({ fields, isUnique }: IndexShape): string {
  const parts = Object.entries(fields).map(([field, direction]) => {
    return `${field.replaceAll(/[A-Z_~]/g, (letter) => `~${letter.toLowerCase()}`)}_${direction}`;
  });
  return `${parts.join('_')}${isUnique ? '_unique' : ''}`;
}
