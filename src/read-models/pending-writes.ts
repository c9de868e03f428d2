import type { RefKey } from '../log/ref.ts';
import { assert } from '../runtime/assert.ts';
import { isNewer } from './decisions/guarded-write.ts';
import type { HandledCommit } from './handled-commit.ts';
import type { ModelShape } from './model-shape.ts';
import type { DecidingCall, KeptCommit, PendingAggregate, PendingRow } from './pending/pending-aggregate.ts';
import { decidingCallOf, newestCallOf, PendingHolds } from './pending/pending-holds.ts';
import { PendingPlan } from './pending/pending-plan.ts';
import { isRowWrite, PendingRows } from './pending/pending-rows.ts';
import { cutByAggregate, type PlanBounds } from './pending/plan-cut.ts';
import { SeenVersions } from './version-ranges.ts';
import type { WritePlan } from './write-plan.ts';

export type PendingWritesOptions = {
  /** All read models of the function. */
  readonly models: readonly ModelShape[];
  /** Whether source records are kept: any of the models is `moves` or `totals`. */
  readonly keepsSources: boolean;
};

/**
 * Coalesces the handled commits of a window: of each row it keeps the newest write of its owner, of each aggregate the
 * newest call that decides what it holds and contributes, and what each version adds. Which of them still count is decided
 * by the plans, over what the store holds.
 *
 * Commits may come in any order and more than once. Nothing may be admitted once the plans were made.
 */
export class PendingWrites {
  readonly #options: PendingWritesOptions;
  readonly #aggregates = new Map<RefKey, PendingAggregate>();
  readonly #rows = new PendingRows();
  readonly #holds = new PendingHolds();
  #commits = 0;
  #retainedBytes = 0;
  #isPlanned = false;

  constructor(options: PendingWritesOptions) {
    this.#options = options;
  }

  /** Commits admitted, those without effect included. */
  get commits(): number {
    return this.#commits;
  }

  /** Bytes of the commits of which a write is still kept. */
  get retainedBytes(): number {
    return this.#retainedBytes;
  }

  /** Whether there is nothing to write: the plans are none. */
  get isEmpty(): boolean {
    return this.#aggregates.size === 0;
  }

  /**
   * Takes a commit into the window. False, and nothing is changed: another aggregate of the window writes one of its rows
   * (the same part of it, for `joined`). Then this window is committed first and the commit goes into a new one, which
   * always takes its first.
   */
  admit(handled: HandledCommit): boolean {
    assert(!this.#isPlanned, 'a window takes no commit once its plans were made');
    const hasRoom = this.#options.keepsSources ? this.#admitVersion(handled) : this.#admitRows(handled);
    if (hasRoom) this.#commits += 1;
    return hasRoom;
  }

  /**
   * The window cut into transactions, each with all rows and the source record of its aggregates, and at most as many
   * documents and about as many bytes as given, unless one aggregate alone exceeds them. Rows that only a stored source
   * record names are not counted. To be committed in this order; repeating some of them does no harm.
   */
  plans(bounds: PlanBounds): readonly WritePlan[] {
    this.#isPlanned = true;
    const { models, keepsSources } = this.#options;
    const cut = cutByAggregate(this.#aggregates.values(), { ...bounds, keepsSources });
    return cut.map((aggregates) => new PendingPlan({ aggregates, models, keepsSources }));
  }

  #admitRows(handled: HandledCommit): boolean {
    const met = this.#rows.met(handled);
    if (met === undefined) return false;
    this.#keepRows(handled, met, undefined);
    return true;
  }

  #admitVersion(handled: HandledCommit): boolean {
    const known = this.#aggregates.get(handled.ref);
    if (known?.seen.has(handled.version) === true) return true;
    const call = newestCallOf(handled, known);
    const met = this.#rows.met(handled);
    if (met === undefined || (call !== undefined && !this.#holds.fits(handled, call))) return false;
    const commit: KeptCommit = {
      aggregate: known ?? this.#aggregateOf(handled.ref, handled.aggregate),
      bytes: handled.bytes,
      uses: 0,
    };
    commit.aggregate.seen.add(handled.version);
    this.#keepRows(handled, met, commit);
    this.#keepAdds(handled, commit);
    if (call !== undefined) this.#keepCall(decidingCallOf(call, { version: handled.version, commit }));
    return true;
  }

  #keepRows(
    { ref, aggregate, version, calls, bytes }: HandledCommit,
    met: readonly (PendingRow | undefined)[],
    known: KeptCommit | undefined,
  ): void {
    let commit = known;
    let place = -1;
    for (const { eventIndex, writes } of calls) {
      for (const write of writes) {
        place += 1;
        if (!isRowWrite(write)) continue;
        // An event before this one may have brought the row.
        const row = met[place] ?? this.#rows.find(write, aggregate);
        if (row !== undefined && !isNewer({ version, eventIndex }, row)) continue;
        commit ??= { aggregate: row?.commit.aggregate ?? this.#aggregateOf(ref, aggregate), bytes, uses: 0 };
        this.#retain(commit);
        if (row === undefined) {
          this.#addRow({ model: write.model, id: write.id, ref, aggregate, version, eventIndex, write, commit });
          continue;
        }
        this.#release(row.commit);
        row.version = version;
        row.eventIndex = eventIndex;
        row.write = write;
        row.commit = commit;
      }
    }
  }

  #addRow(row: PendingRow): void {
    this.#rows.add(row);
    row.commit.aggregate.rows.push(row);
  }

  #keepAdds({ version, calls }: HandledCommit, commit: KeptCommit): void {
    const adds = calls.flatMap(({ writes }) => writes.filter((write) => write.kind === 'add'));
    if (adds.length === 0) return;
    commit.aggregate.added.set(version, { adds, commit });
    this.#retain(commit);
  }

  #keepCall(call: DecidingCall): void {
    const { aggregate } = call.commit;
    const before = aggregate.decidingCall;
    this.#holds.replace(aggregate, call);
    this.#retain(call.commit);
    if (before !== undefined) this.#release(before.commit);
  }

  #aggregateOf(ref: RefKey, name: string): PendingAggregate {
    const known = this.#aggregates.get(ref);
    if (known !== undefined) return known;
    const aggregate = {
      ref,
      name,
      rows: [],
      seen: new SeenVersions(),
      decidingCall: undefined,
      added: new Map(),
      bytes: 0,
    };
    this.#aggregates.set(ref, aggregate);
    return aggregate;
  }

  #retain(commit: KeptCommit): void {
    commit.uses += 1;
    if (commit.uses > 1) return;
    this.#retainedBytes += commit.bytes;
    commit.aggregate.bytes += commit.bytes;
  }

  #release(commit: KeptCommit): void {
    commit.uses -= 1;
    if (commit.uses > 0) return;
    this.#retainedBytes -= commit.bytes;
    commit.aggregate.bytes -= commit.bytes;
  }
}
