import type { AggregateShape } from '../aggregates/aggregate-shape.ts';
import type { Commit } from '../log/commit.ts';
import type { HandlerCall } from '../read-models/handled-commit.ts';
import type { ModelShape } from '../read-models/model-shape.ts';

export type SubscriptionKind = 'projection' | 'reactor' | 'keeper';

/** What a batch runner runs: pure and synchronous, so it may be called again for the same commit at any time. */
export interface CommitHandler {
  /** Whether any handler function would be called for the commit. */
  wants(commit: Commit): boolean;
  /** Calls the handler functions in event order. Throws what they throw, or why their results are refused. */
  handle(commit: Commit): readonly HandlerCall[];
}

/** One handler function following one or more topics, named `Processor.function`, with checkpoints of its own. */
export type Subscription = {
  readonly name: string;
  readonly kind: SubscriptionKind;
  /** The aggregates it follows, each once. */
  readonly aggregates: readonly AggregateShape[];
  /** The read models it writes; no other function does. */
  readonly models: readonly ModelShape[];
  /** Whether source records are kept: then it sees every version of its aggregates. */
  readonly keepsSources: boolean;
  /** Start given in code, while there is no checkpoint. */
  readonly start: string | undefined;
  readonly handler: CommitHandler;
  /** What is wrong with the definition, a sentence each. */
  readonly problems: readonly string[];
};

/** The topics a subscription follows, each once. Two aggregates may share one. */
export function topicsOf(subscription: Subscription): readonly string[] {
  return [...new Set(subscription.aggregates.map((aggregate) => aggregate.topic))];
}
