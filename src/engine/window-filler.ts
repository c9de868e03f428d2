import type { SequenceKey } from '../failures/failure.ts';
import { sequenceOfRef } from '../failures/sequence.ts';
import type { Commit } from '../log/commit.ts';
import type { CommitCodec } from '../log/commit-codec.ts';
import type { LogRecord } from '../log/record.ts';
import type { HandledCommit, HandlerCall } from '../read-models/handled-commit.ts';
import type { Clock } from '../runtime/clock.ts';
import type { CommitHandler } from '../subscriptions/subscription.ts';
import type { Isolation } from './isolation.ts';
import type { ParkedSequences } from './parked-sequences.ts';
import {
  bytesOf,
  failureAfter,
  ledgerEntryOf,
  type Trouble,
  troubleOfHandler,
  troubleOfUndecodable,
} from './parking.ts';
import type { Selector } from './selector.ts';
import type { Window } from './window.ts';

/** What came of calling the handlers of a commit. */
export type Handled =
  | { readonly kind: 'handled'; readonly calls: readonly HandlerCall[] }
  | { readonly kind: 'failed'; readonly trouble: Trouble };

/**
 * Calls a pure handler; what throws is tried once more alone, then it has failed. The second try gets the commit as the
 * record has it, whatever the first one did to the object it was given.
 */
export function callHandler(
  handler: CommitHandler,
  commit: Commit,
  { codec, record }: { readonly codec: CommitCodec; readonly record: LogRecord },
): Handled {
  try {
    return { kind: 'handled', calls: handler.handle(commit) };
  } catch {
    // The second error is the one to report: it came with nothing else going on.
    const again = codec.decode(record);
    try {
      return { kind: 'handled', calls: handler.handle(again.kind === 'commit' ? again.commit : commit) };
    } catch (error) {
      return { kind: 'failed', trouble: troubleOfHandler(error) };
    }
  }
}

export function handledCommitOf(commit: Commit, calls: readonly HandlerCall[], record: LogRecord): HandledCommit {
  return {
    ref: commit.refKey,
    aggregate: declaredName(commit.ref),
    version: commit.version,
    calls,
    bytes: bytesOf(record),
  };
}

/** The names met last: a text for each commit would be most of what is made here. */
let known = { context: '', aggregate: '', name: '.' };

/** As an aggregate is declared: `context.aggregate`. */
function declaredName({ context, aggregate }: Commit['ref']): string {
  if (context !== known.context || aggregate !== known.aggregate) {
    known = { context, aggregate, name: `${context}.${aggregate}` };
  }
  return known.name;
}

export type WindowFillerOptions = {
  readonly selector: Selector;
  readonly codec: CommitCodec;
  readonly handler: CommitHandler;
  readonly parked: ParkedSequences;
  readonly isolation: Isolation;
  readonly clock: Clock;
};

type Parking = {
  readonly commit: Commit | undefined;
  readonly sequence: SequenceKey;
  readonly trouble: Trouble | undefined;
};

/** Takes records one by one into a window: select, handle, coalesce or park. */
export class WindowFiller {
  readonly #options: WindowFillerOptions;

  constructor(options: WindowFillerOptions) {
    this.#options = options;
  }

  /** Takes the record in; false: the window has to be committed before this record can be taken. */
  take(record: LogRecord, window: Window): boolean {
    const selected = this.#options.selector.select(record, this.#options.parked);
    switch (selected.kind) {
      case 'skip':
        return true;
      case 'handle':
        return this.#handle(record, selected.commit, window);
      case 'follow':
        return this.#park(record, { ...selected, trouble: undefined }, window);
      case 'undecodable': {
        const trouble = troubleOfUndecodable(selected.reason);
        return this.#park(record, { commit: undefined, sequence: selected.sequence, trouble }, window);
      }
    }
  }

  #handle(record: LogRecord, commit: Commit, window: Window): boolean {
    const { isolation, handler, codec } = this.#options;
    const isAlone = record.offset < isolation.until && isolation.refs.has(commit.refKey);
    if (isAlone && window.hasEffects) return false;
    const handled = callHandler(handler, commit, { codec, record });
    if (handled.kind === 'failed') {
      return this.#park(record, { commit, sequence: sequenceOfRef(commit.refKey), trouble: handled.trouble }, window);
    }
    if (isAlone) window.alone = { record, commit };
    return window.pending.admit(handledCommitOf(commit, handled.calls, record));
  }

  #park(record: LogRecord, { commit, sequence, trouble }: Parking, window: Window): boolean {
    const { parked, clock } = this.#options;
    window.stop = parked.bound(sequence);
    if (window.stop !== undefined) return false;
    const nowMs = clock.nowMs();
    const failure = trouble === undefined ? undefined : failureAfter(trouble, undefined, nowMs);
    window.park({ kind: 'park', entry: ledgerEntryOf({ record, commit, sequence, failure, nowMs }) }, bytesOf(record));
    parked.add(sequence, failure);
    return true;
  }
}
