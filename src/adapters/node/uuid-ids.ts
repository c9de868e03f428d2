import { randomUUID } from 'node:crypto';
import type { Ids } from '../../runtime/ids.ts';

/** Random UUIDs (version 4). */
export const uuidIds: Ids = { next: () => randomUUID() };
