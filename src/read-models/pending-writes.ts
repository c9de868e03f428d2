import type { RefKey } from '../log/ref.ts';
import { assert } from '../runtime/assert.ts';
import { isNewer } from './decisions/guarded-write.ts';
import type { HandledCommit, HandlerCall } from './handled-commit.ts';
import type { ModelShape } from './model-shape.ts';
import type { KeptCommit, PendingAggregate, PendingRow, RowWrite } from './pending/pending-aggregate.ts';
import { PendingPlan } from './pending/pending-plan.ts';
import { cutByAggregate, type PlanBounds } from './pending/plan-cut.ts';
import { SeenVersions } from './version-ranges.ts';
import type { Write } from './write.ts';
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
  /** Rows guarded by themselves: by model (`rows`) or by model and aggregate name (`joined`), then by id. */
  readonly #rows = new Map<string, Map<string, PendingRow>>();
  /** Rows that deciding calls put: by model (`moves`), then by id. */
  readonly #holders = new Map<string, Map<string, PendingAggregate>>();
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
    const known = this.#aggregates.get(handled.ref);
    if (this.#options.keepsSources && known?.seen.has(handled.version) === true) {
      this.#commits += 1;
      return true;
    }
    const deciding = this.#options.keepsSources ? decidingCallOf(handled, known) : undefined;
    if (!this.#fits(handled, deciding)) return false;
    this.#commits += 1;
    if (handled.calls.length === 0 && !this.#options.keepsSources) return true;
    const aggregate = known ?? this.#newAggregate(handled);
    const commit: KeptCommit = { aggregate, bytes: handled.bytes, uses: 0 };
    for (const call of handled.calls) this.#keepRows(handled, { call, commit });
    if (this.#options.keepsSources) {
      aggregate.seen.add(handled.version);
      this.#keepAdds(handled, commit);
      if (deciding !== undefined) this.#keepDeciding(handled, { call: deciding, commit });
    }
    if (known === undefined && (commit.uses > 0 || this.#options.keepsSources))
      this.#aggregates.set(handled.ref, aggregate);
    return true;
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

  #newAggregate({ ref, aggregate: name }: HandledCommit): PendingAggregate {
    return { ref, name, rows: [], seen: new SeenVersions(), decidingCall: undefined, added: new Map(), bytes: 0 };
  }

  #fits({ ref, aggregate, calls }: HandledCommit, deciding: HandlerCall | undefined): boolean {
    for (const { writes } of calls) {
      for (const write of writes) {
        const owner = this.#rows.get(slotOf(write, aggregate))?.get(write.id)?.write.ref;
        if (owner !== undefined && owner !== ref) return false;
      }
    }
    if (deciding === undefined) return true;
    return deciding.writes.every((write) => {
      const holder = write.kind === 'put' ? this.#holders.get(write.model.name)?.get(write.id) : undefined;
      return holder === undefined || holder.ref === ref;
    });
  }

  #keepRows(
    { ref, aggregate, version }: HandledCommit,
    { call, commit }: { readonly call: HandlerCall; readonly commit: KeptCommit },
  ): void {
    const { eventIndex } = call;
    for (const write of call.writes) {
      if (!isGuardedByRow(write)) continue;
      const rows = inner(this.#rows, slotOf(write, aggregate));
      const row = rows.get(write.id);
      if (row === undefined) {
        const first = {
          model: write.model,
          id: write.id,
          write: { ref, aggregate, version, eventIndex, write },
          commit,
        };
        rows.set(write.id, first);
        commit.aggregate.rows.push(first);
        this.#retain(commit);
      } else if (isNewer({ version, eventIndex }, row.write)) {
        this.#retain(commit);
        this.#release(row.commit);
        row.write = { ref, aggregate, version, eventIndex, write };
        row.commit = commit;
      }
    }
  }

  #keepAdds({ version, calls }: HandledCommit, commit: KeptCommit): void {
    const adds = calls.flatMap(({ writes }) => writes.filter((write) => write.kind === 'add'));
    if (adds.length === 0) return;
    commit.aggregate.added.set(version, { adds, commit });
    this.#retain(commit);
  }

  #keepDeciding(
    { version }: HandledCommit,
    { call, commit }: { readonly call: HandlerCall; readonly commit: KeptCommit },
  ): void {
    const { aggregate } = commit;
    const before = aggregate.decidingCall;
    for (const { model, id } of before?.puts ?? []) this.#holders.get(model.name)?.delete(id);
    const puts = call.writes.filter((write) => write.kind === 'put').filter(({ model }) => model.kind === 'moves');
    for (const { model, id } of puts) inner(this.#holders, model.name).set(id, aggregate);
    const contributes = call.writes.filter((write) => write.kind === 'contribute');
    aggregate.decidingCall = { version, eventIndex: call.eventIndex, puts, contributes, commit };
    if (puts.length + contributes.length > 0) this.#retain(commit);
    if (before !== undefined && before.puts.length + before.contributes.length > 0) this.#release(before.commit);
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

/** The last call of a commit, if the window knows no newer one of the aggregate. */
function decidingCallOf(
  { calls, version }: HandledCommit,
  known: PendingAggregate | undefined,
): HandlerCall | undefined {
  const newest = known?.decidingCall?.version ?? 0;
  if (version <= newest) return undefined;
  return calls.reduce<HandlerCall | undefined>(
    (last, call) => (last === undefined || call.eventIndex > last.eventIndex ? call : last),
    undefined,
  );
}

function isGuardedByRow(write: Write): write is RowWrite {
  return write.model.kind === 'rows' || write.model.kind === 'joined';
}

function slotOf({ model }: Write, aggregate: string): string {
  return model.kind === 'joined' ? `${model.name}/${aggregate}` : model.name;
}

function inner<Value>(maps: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const known = maps.get(key);
  if (known !== undefined) return known;
  const made = new Map<string, Value>();
  maps.set(key, made);
  return made;
}
