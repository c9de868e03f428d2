import { setImmediate as nextTurn, setTimeout as timer } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/logger.ts';
import { silentMeter } from '../runtime/meter.ts';
import type { Random } from '../runtime/random.ts';
import type { Runtime } from '../runtime/runtime.ts';

const STEP_MS = 10_000;
const START_MS = Date.UTC(2026, 0, 1);

/** Surroundings in which nothing has to be waited for: each look at the clock finds it ten seconds later. */
export function hurriedRuntime(random: Random): Runtime {
  let ids = 0;
  return {
    clock: hurriedClock(),
    random,
    ids: { next: () => `id-${(ids += 1)}` },
    logger: silentLogger,
    meter: silentMeter,
  };
}

function hurriedClock(): Clock {
  let nowMs = START_MS;
  const look = (): number => (nowMs += STEP_MS);
  return {
    nowMs: look,
    monotonicMs: look,
    async sleep(ms, signal) {
      // Who sleeps here waits for nothing that will come: in memory nothing is ever down.
      await timer(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    },
    async yield() {
      await nextTurn();
    },
  };
}
