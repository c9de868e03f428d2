import type { Random } from '../../runtime/random.ts';

/** Chance as the machine has it. Not for secrets. */
export const systemRandom: Random = { next: () => Math.random() };
