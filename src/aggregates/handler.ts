import type { AggregateShape } from './aggregate-shape.ts';
import type { CommitFields } from './event.ts';

export type HandlerOptions = {
  /** Where the function starts while it has no checkpoint: `beginning`, `end` or an ISO-8601 instant with zone. */
  readonly start?: string;
};

/** A handler function bound to what it is called for. `Result` is what it returns; projections and reactors differ there. */
export type Handler<Result> = {
  readonly aggregate: AggregateShape;
  /** Names of the events it is called for, once each; `undefined`: once per commit, with the state after it. */
  readonly names: ReadonlySet<string> | undefined;
  readonly start: string | undefined;
  /** Called with the event type that its form promises. */
  readonly call: (event: CommitFields) => Result;
};
