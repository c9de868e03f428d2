import type { LogBatch, LogSession, PullLimits } from '../../../src/log/log-source.ts';
import type { Position } from '../../../src/log/position.ts';
import type { LogRecord } from '../../../src/log/record.ts';

export const never = new AbortController().signal;
const atOnce: PullLimits = { records: 1_000, bytes: 10_000_000, waitMs: 0 };

export function pullAtOnce(session: LogSession, from: Position, limits: Partial<PullLimits> = {}): Promise<LogBatch> {
  return session.pull(from, { ...atOnce, ...limits }, never);
}

/** Pulls forward until there are `count` records, or time is over; outages are waited out. */
export async function readOn(
  session: LogSession,
  from: Position,
  { count, withinMs = 10_000 }: { readonly count: number; readonly withinMs?: number },
): Promise<{ readonly records: readonly LogRecord[]; readonly next: number }> {
  const records: LogRecord[] = [];
  const deadline = performance.now() + withinMs;
  let next = from.offset;
  while (records.length < count && performance.now() < deadline) {
    try {
      const limits = { ...atOnce, waitMs: Math.max(1, Math.min(500, deadline - performance.now())) };
      const batch = await session.pull({ ...from, offset: next }, limits, never);
      records.push(...batch.records);
      next = batch.nextOffset;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'UNAVAILABLE') throw error;
    }
  }
  return { records, next };
}

export function keysOf({ records }: { readonly records: readonly LogRecord[] }): readonly unknown[] {
  return records.map(({ key }) => key);
}

export function numbered(count: number, from = 0): { key: string; value: string }[] {
  return Array.from({ length: count }, (_, index) => ({ key: `k${from + index}`, value: `{"n":${from + index}}` }));
}
