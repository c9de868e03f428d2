import type { Random } from '../runtime/random.ts';

/** Chance that a seed decides (splitmix32): the same seed gives the same numbers on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return {
    next() {
      state = (state + 0x9e_37_79_b9) | 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x85_eb_ca_6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2_b2_ae_35);
      return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296;
    },
  };
}
