import { topicName } from '../log/topic-name.ts';
import type { AggregateShape } from './aggregate-shape.ts';
import type { CommitFields, EventOf, StateEvent, StateTypedEvent, TypedEvent } from './event.ts';
import type { Handler, HandlerOptions } from './handler.ts';

export type AggregateOptions<Topic extends 'state' | 'event' = 'state' | 'event'> = {
  /** Which topic is followed: `state` (default) carries the state after each commit, `event` does not. */
  readonly topic?: Topic;
  /** Names of all its events. Given, a handler for any other name is refused at start. */
  readonly events?: readonly string[];
  /** The context's part of the topic name; default: the context's name. */
  readonly contextAlias?: string;
  /** Default `wow.`. */
  readonly topicPrefix?: string;
  /** The whole topic name, instead of the rule `{prefix}{alias}.{aggregate}.{event|state}`. */
  readonly topicName?: string;
};

/** An aggregate followed by its state topic: both forms of handlers, with the state. */
export type StateAggregate<State, Events extends object> = AggregateShape & {
  /** Called once per commit, with the state after it. */
  onState<Result>(handler: (event: StateEvent<State, Events>) => Result, options?: HandlerOptions): Handler<Result>;
  /** Called once per event of these names, in event order. */
  on<Name extends keyof Events & string, Result>(
    names: Name | readonly Name[],
    handler: (event: StateTypedEvent<State, EventOf<Events, Name>>) => Result,
    options?: HandlerOptions,
  ): Handler<Result>;
};

/** An aggregate followed by its event topic: events only. */
export type EventAggregate<Events extends object> = AggregateShape & {
  /** Called once per event of these names, in event order. */
  on<Name extends keyof Events & string, Result>(
    names: Name | readonly Name[],
    handler: (event: TypedEvent<EventOf<Events, Name>>) => Result,
    options?: HandlerOptions,
  ): Handler<Result>;
};

/**
 * Declares an aggregate to follow. `State` is what its state topic carries after each commit, `Events` maps event names
 * to their bodies. Plain value, no registration: mistakes in it are listed when the worker starts.
 *
 * @param name `context.aggregate`, as the records name them, e.g. `eshop.order`
 */
export function aggregate<State, Events extends object>(
  name: string,
  options?: AggregateOptions<'state'>,
): StateAggregate<State, Events>;
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Both forms are declared alike.
export function aggregate<_State, Events extends object>(
  name: string,
  options: AggregateOptions<'event'>,
): EventAggregate<Events>;
export function aggregate<State, Events extends object>(
  name: string,
  options: AggregateOptions = {},
): StateAggregate<State, Events> {
  const dot = name.lastIndexOf('.');
  const context = dot < 0 ? '' : name.slice(0, dot);
  const own = name.slice(dot + 1);
  const kind = options.topic ?? 'state';
  const shape: AggregateShape = {
    name,
    context,
    aggregate: own,
    topic:
      options.topicName ??
      topicName({
        alias: options.contextAlias ?? context,
        aggregate: own,
        kind,
        ...(options.topicPrefix === undefined ? {} : { prefix: options.topicPrefix }),
      }),
    carriesState: kind === 'state',
    events: options.events === undefined ? undefined : new Set(options.events),
  };
  return {
    ...shape,
    onState: (handler, handlerOptions) => bind(shape, undefined, { handler, start: handlerOptions?.start }),
    on: (names, handler, handlerOptions) =>
      bind(shape, new Set(typeof names === 'string' ? [names] : names), { handler, start: handlerOptions?.start }),
  };
}

/** Forgets the event's type: the runner builds the event that the form of the handler promises. */
function bind<Result>(
  shape: AggregateShape,
  names: ReadonlySet<string> | undefined,
  bound: { readonly handler: (event: never) => Result; readonly start: string | undefined },
): Handler<Result> {
  return { aggregate: shape, names, start: bound.start, call: bound.handler as (event: CommitFields) => Result };
}
