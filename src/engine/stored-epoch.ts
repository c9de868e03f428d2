import type { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import type { Scope } from '../checkpoints/epoch.ts';
import type { TopicPartition } from '../log/position.ts';
import { isAborted } from '../runtime/aborted.ts';
import { ABORTED, retryWhileUnavailable } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** How often an owner compares its epoch with the stored one. */
const POLL_MS = 5_000;

export type OwnEpoch = TopicPartition & { readonly scope: Scope; readonly epoch: number };

/**
 * Waits until the store has another epoch than the own one: a reset or another owner. An owner that writes learns of it by
 * its next write; one with nothing to write would not. True: it has; false: aborted first.
 */
export async function epochMoved(
  { scope, epoch, ...partition }: OwnEpoch,
  { checkpoints, runtime }: { readonly checkpoints: CheckpointStore; readonly runtime: Runtime },
  signal: AbortSignal,
): Promise<boolean> {
  const read = () => checkpoints.read(scope, partition);
  while (!signal.aborted) {
    await runtime.clock.sleep(POLL_MS, signal);
    if (isAborted(signal)) return false;
    // Whoever works here tells of the outage.
    const stored = await retryWhileUnavailable(read, { runtime, signal, onWaiting: () => undefined });
    if (stored !== ABORTED && stored?.epoch !== epoch) return true;
  }
  return false;
}
