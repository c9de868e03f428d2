import { createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach } from 'vitest';

/**
 * Fails a test that leaves something open behind it: a timer that still holds the process, a socket, a server, a
 * child process, a watcher. What was open before the test (a suite's `beforeAll`) is not held against it.
 *
 * Closing takes some turns of the event loop, on a busy machine many, so what seems to be left gets a while to go
 * away. Timers get less: a cleared one is gone at once, and a short one must not slip through by firing meanwhile.
 */
const timersSettleMs = 20;
const handlesSettleMs = 1_000;

const handleTypes = new Set([
  'FSEventWrap',
  'MessagePort',
  'PipeServerWrap',
  'PipeWrap',
  'ProcessWrap',
  'StatWatcher',
  'TCPServerWrap',
  'TCPSocketWrap',
  'TLSWrap',
  'UDPWrap',
  'Worker',
]);

type OpenTimer = { readonly timer: NodeJS.Timeout; readonly startedBy: { readonly stack?: string } };

const openTimers = new Map<number, OpenTimer>();

createHook({
  trackPromises: false,
  // oxlint-disable-next-line max-params -- the signature is Node's
  init(id, type, _trigger, resource) {
    if (type !== 'Timeout') return;
    const startedBy = {};
    Error.captureStackTrace(startedBy);
    openTimers.set(id, { timer: resource as NodeJS.Timeout, startedBy });
  },
  destroy(id) {
    openTimers.delete(id);
  },
}).enable();

// This hook is the outermost one, and a finisher registered first runs last: after every `afterEach`, fixture and
// finisher of the test itself.
beforeEach(({ onTestFinished }) => {
  const timersBefore = new Set(openTimers.keys());
  const handlesBefore = openHandles();
  onTestFinished(async () => {
    const left = [
      ...(await settled(timersSettleMs, () => timersLeft(timersBefore))),
      ...(await settled(handlesSettleMs, () => handlesLeft(handlesBefore))),
    ];
    if (left.length > 0) throw new Error(`The test left open: ${left.join(', ')}`);
  });
});

async function settled(settleMs: number, look: () => string[]): Promise<string[]> {
  const startedAt = performance.now();
  let left = look();
  while (left.length > 0 && performance.now() - startedAt < settleMs) {
    await nextTurn();
    left = look();
  }
  return left;
}

function timersLeft(before: ReadonlySet<number>): string[] {
  const left: string[] = [];
  for (const [id, { timer, startedBy }] of openTimers) {
    if (before.has(id) || !timer.hasRef()) continue;
    const frame = firstFrame(startedBy.stack ?? '');
    if (/node_modules\/@?vitest\//.test(frame)) continue;
    left.push(`a timer started ${frame}`);
  }
  return left;
}

/** The topmost frame that belongs neither to Node nor to this file. */
function firstFrame(stack: string): string {
  const frames = stack.split('\n').slice(1);
  const own = frames.find((frame) => !/\bnode:|leak-check/.test(frame));
  return own?.trim() ?? 'by Node itself';
}

function handlesLeft(before: ReadonlyMap<string, number>): string[] {
  const left: string[] = [];
  for (const [type, count] of openHandles()) {
    const more = count - (before.get(type) ?? 0);
    if (more > 0) left.push(`${more} × ${type}`);
  }
  return left;
}

function openHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) {
    if (handleTypes.has(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}
