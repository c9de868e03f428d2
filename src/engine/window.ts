import type { LedgerChange } from '../failures/failure.ts';
import type { Commit } from '../log/commit.ts';
import type { LogRecord } from '../log/record.ts';
import { PendingWrites } from '../read-models/pending-writes.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { Permit } from './window-permits.ts';

/** Ledger changes go with the position in one transaction, so a window holds few of them. */
const LEDGER_CHANGES_MAX = 1_000;
const LEDGER_BYTES_MAX = 8 * 1024 * 1024;
/** From so many commits or bytes on a window needs a permit: what is live stays below. */
const LARGE_COMMITS = 1_000;
const LARGE_BYTES = 4 * 1024 * 1024;

/** A bound was reached: what stops, and why. */
export type Stop = { readonly whole: 'partition' | 'subscription'; readonly reason: string };

/** A stretch of one partition, handled but not committed: its coalesced writes, ledger changes and next offset. */
export class Window {
  readonly pending: PendingWrites;
  readonly ledger: LedgerChange[] = [];
  #ledgerBytes = 0;
  #taken = 0;
  #next: number;
  /** The one commit of a window that is committed alone, to see whether the store takes it. */
  alone: { readonly record: LogRecord; readonly commit: Commit } | undefined;
  /** What stops once this window is committed. */
  stop: Stop | undefined;
  /** When its first record with an effect could have come, on the monotonic clock. */
  openedAtMs = 0;
  #permit: Permit | undefined;
  readonly from: number;
  readonly #bounds: SubscriptionSettings['batch'];

  constructor(
    from: number,
    options: { readonly subscription: Subscription; readonly bounds: SubscriptionSettings['batch'] },
  ) {
    this.from = from;
    this.#next = from;
    this.#bounds = options.bounds;
    this.pending = new PendingWrites(options.subscription);
  }

  /** Everything below is in this window or was nothing to anybody. */
  get next(): number {
    return this.#next;
  }

  /** Records taken. */
  get taken(): number {
    return this.#taken;
  }

  get hasEffects(): boolean {
    return !this.pending.isEmpty || this.ledger.length > 0;
  }

  get hasProgress(): boolean {
    return this.#next > this.from;
  }

  get isFull(): boolean {
    return (
      this.alone !== undefined ||
      this.stop !== undefined ||
      this.#taken >= this.#bounds.records ||
      this.pending.retainedBytes >= this.#bounds.bytes ||
      this.ledger.length >= LEDGER_CHANGES_MAX ||
      this.#ledgerBytes >= LEDGER_BYTES_MAX
    );
  }

  get isLarge(): boolean {
    return this.pending.commits >= LARGE_COMMITS || this.pending.retainedBytes >= LARGE_BYTES;
  }

  get hasPermit(): boolean {
    return this.#permit !== undefined;
  }

  /** May grow on; the wait for it does not count as gathering. */
  permit(permit: Permit, nowMs: number): void {
    this.#permit = permit;
    this.openedAtMs = nowMs;
  }

  /** Gives the permit back, if it has one: it is committed, or given up. */
  release(): void {
    this.#permit?.release();
  }

  park(change: LedgerChange, bytes: number): void {
    this.ledger.push(change);
    this.#ledgerBytes += bytes;
  }

  /** The records up to `next` belong to this window. */
  advance(next: number, records: number): void {
    this.#next = next;
    this.#taken += records;
  }
}
