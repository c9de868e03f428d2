import type { HandledCommit, HandlerCall } from '../handled-commit.ts';
import type { DecidingCall, KeptCommit, PendingAggregate } from './pending-aggregate.ts';

/** The rows that the deciding calls of a window put (`moves`), and who. */
export class PendingHolds {
  readonly #byModel = new Map<string, Map<string, PendingAggregate>>();

  /** Whether no other aggregate's deciding call puts a row that this call puts. */
  fits({ ref }: HandledCommit, call: HandlerCall): boolean {
    return call.writes.every((write) => {
      if (write.kind !== 'put') return true;
      const holder = this.#byModel.get(write.model.name)?.get(write.id);
      return holder === undefined || holder.ref === ref;
    });
  }

  /** Puts an aggregate's call in place of the one before, whose rows anybody may put now. */
  replace(aggregate: PendingAggregate, call: DecidingCall): void {
    for (const { model, id } of aggregate.decidingCall?.puts ?? []) this.#byModel.get(model.name)?.delete(id);
    for (const { model, id } of call.puts) {
      const holders = this.#byModel.get(model.name) ?? new Map<string, PendingAggregate>();
      this.#byModel.set(model.name, holders.set(id, aggregate));
    }
    aggregate.decidingCall = call;
  }
}

/** The last call of a commit, if the window knows none of a newer version. */
export function newestCallOf(
  { calls, version }: HandledCommit,
  known: PendingAggregate | undefined,
): HandlerCall | undefined {
  if (version <= (known?.decidingCall?.version ?? 0)) return undefined;
  let last: HandlerCall | undefined;
  for (const call of calls) if (last === undefined || call.eventIndex > last.eventIndex) last = call;
  return last;
}

export function decidingCallOf(
  call: HandlerCall,
  { version, commit }: { readonly version: number; readonly commit: KeptCommit },
): DecidingCall {
  return {
    version,
    eventIndex: call.eventIndex,
    puts: call.writes.filter((write) => write.kind === 'put').filter(({ model }) => model.kind === 'moves'),
    contributes: call.writes.filter((write) => write.kind === 'contribute'),
    commit,
  };
}
