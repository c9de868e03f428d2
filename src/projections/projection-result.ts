import type { Write } from '../read-models/write.ts';

/** What a projection's handler returns: one write, several, or nothing. Never a promise: handlers are pure. */
export type ProjectionResult = Write | readonly Write[] | undefined | void;
