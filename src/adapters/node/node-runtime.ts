import type { Logger } from '../../runtime/logger.ts';
import { silentMeter } from '../../runtime/meter.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { systemClock } from './system-clock.ts';
import { systemRandom } from './system-random.ts';
import { uuidIds } from './uuid-ids.ts';

/** What the core takes from its surroundings, as a process of Node has it. */
export function nodeRuntime(logger: Logger): Runtime {
  return { clock: systemClock, random: systemRandom, ids: uuidIds, logger, meter: silentMeter };
}
