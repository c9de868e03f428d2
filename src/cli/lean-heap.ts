import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow less between two collections: a worker that is far behind makes much and keeps little. Costs a few
 * percent of its speed and saves a quarter of its memory. For the whole process, and best before anything else.
 */
export function keepHeapLean(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
