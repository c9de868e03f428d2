import type { ClientSession } from 'mongodb';
import type { Deadline } from './deadline.ts';
import { isConflict, translated } from './mongo-error.ts';

/** What a transaction's body wants: to stand, or to leave nothing behind. */
export type Ending<T> = { readonly isCommitted: boolean; readonly result: T };

/**
 * Runs `body` in a transaction of the session, which has no other at the time, on a snapshot and to the majority. A
 * conflict runs it again from the start, up to the deadline, so it must change nothing but the store. Throws
 * `UnavailableError` when the outcome is unknown; what is left open then ends with the session's next transaction.
 */
export async function inTransaction<T>(
  session: ClientSession,
  deadline: Deadline,
  body: () => Promise<Ending<T>>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runOnce(session, deadline, body);
    } catch (error) {
      if (!isConflict(error)) throw translated(error, 'a transaction');
      if (deadline.leftMs === 0) throw deadline.error(error);
      await deadline.backOff(attempt);
    }
  }
}

async function runOnce<T>(session: ClientSession, deadline: Deadline, body: () => Promise<Ending<T>>): Promise<T> {
  session.startTransaction({
    readConcern: { level: 'snapshot' },
    writeConcern: { w: 'majority', wtimeoutMS: Math.max(1, Math.ceil(deadline.leftMs)) },
    readPreference: 'primary',
  });
  let isOpen = true;
  try {
    const { isCommitted, result } = await body();
    if (isCommitted) {
      // Whoever waited is gone: what is late must not be told to stand as well.
      if (deadline.leftMs === 0) throw deadline.error();
      isOpen = false;
      await session.commitTransaction();
    }
    return result;
  } finally {
    // The server ends it by itself where this does not arrive. The driver throws nothing of importance here.
    if (isOpen) await session.abortTransaction().catch(() => undefined);
  }
}
