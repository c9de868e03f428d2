import type { Random } from '../../runtime/random.ts';
import { pick } from './chance.ts';

/** A call of a port, as faults tell them apart. */
export type Operation =
  | `log.${'describe' | 'offsetsAt' | 'pull' | 'readAt'}`
  | `checkpoints.${'initialisation' | 'initialise' | 'claim' | 'save' | 'read' | 'reset' | 'drop' | 'list'}`
  | `readModels.${'prepare' | 'commit' | 'readRow' | 'readRows' | 'listModels'}`
  | `ledger.${'membership' | 'elsewhere' | 'entries' | 'entryAt' | 'list' | 'count'}`;

/**
 * What becomes of a call. All but the first are told to the caller as `UnavailableError`.
 *
 * | fate | what happened |
 * | --- | --- |
 * | delivered | done, and answered |
 * | request lost | nothing was done |
 * | reply lost | done |
 * | late | done some time after the caller was told that it failed |
 */
export type Fate = 'delivered' | 'request lost' | 'reply lost' | 'late';

/** What happens to calls between an engine and its stores. */
export interface Faults {
  /** How long a request or a reply is on its way. */
  delayMs(operation: Operation): number;
  fate(operation: Operation): Fate;
  /** How much later a late request is carried out. */
  lateMs(): number;
  /** Whether a request that was on its way is carried out although its sender is gone. */
  outlivesSender(): boolean;
}

/** Nothing goes wrong, and nothing takes time. */
export const noFaults: Faults = {
  delayMs: () => 0,
  fate: () => 'delivered',
  lateMs: () => 0,
  outlivesSender: () => false,
};

/** How often what goes wrong, each in [0, 1]. */
export type FaultRates = {
  readonly requestLost: number;
  readonly replyLost: number;
  readonly late: number;
  readonly slow: number;
  readonly delayMaxMs: number;
  readonly slowMaxMs: number;
  readonly lateMaxMs: number;
};

/** Rates of one run: most runs have some kinds of faults, few have all, so that each is also met without the others. */
export function swarm(random: Random): FaultRates {
  const rate = (): number => pick(random, [0, 0, 0.01, 0.05, 0.15]);
  return {
    requestLost: rate(),
    replyLost: rate(),
    late: rate(),
    slow: rate(),
    delayMaxMs: pick(random, [0, 1, 5, 20]),
    slowMaxMs: pick(random, [100, 2_000]),
    lateMaxMs: pick(random, [50, 3_000]),
  };
}

/** Faults at random. */
export function randomFaults(random: Random, rates: FaultRates): Faults {
  const below = (max: number): number => Math.floor(random.next() * (max + 1));
  return {
    delayMs: () => below(random.next() < rates.slow ? rates.slowMaxMs : rates.delayMaxMs),
    fate: () => {
      const drawn = random.next();
      if (drawn < rates.requestLost) return 'request lost';
      if (drawn < rates.requestLost + rates.replyLost) return 'reply lost';
      return drawn < rates.requestLost + rates.replyLost + rates.late ? 'late' : 'delivered';
    },
    lateMs: () => below(rates.lateMaxMs),
    outlivesSender: () => random.next() < 0.5,
  };
}
