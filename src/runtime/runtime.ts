import type { Clock } from './clock.ts';
import type { Ids } from './ids.ts';
import type { Logger } from './logger.ts';
import type { Meter } from './meter.ts';
import type { Random } from './random.ts';

/** All that the core takes from its surroundings. */
export type Runtime = {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly meter: Meter;
};
