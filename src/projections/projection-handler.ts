import type { CommitFields } from '../aggregates/event.ts';
import type { Handler } from '../aggregates/handler.ts';
import type { Commit, CommittedEvent } from '../log/commit.ts';
import { EVENT_INDEX_STATE } from '../read-models/guard.ts';
import type { HandlerCall } from '../read-models/handled-commit.ts';
import { handlerCall } from '../read-models/handler-call.ts';
import type { ModelShape } from '../read-models/model-shape.ts';
import { TidemarkError } from '../runtime/errors.ts';
import type { CommitHandler } from '../subscriptions/subscription.ts';
import type { ProjectionResult } from './projection-result.ts';

/** A commit of a state topic came without the state that the handler is promised. */
export class StateMissingError extends TidemarkError {
  readonly code = 'STATE_MISSING';
}

type Own = Handler<ProjectionResult>;

/** Runs the handlers of one projection function over a commit. */
export function projectionHandler(models: readonly ModelShape[], handlers: readonly Own[]): CommitHandler {
  // By context, then aggregate: no string is built per commit.
  const byContext = new Map<string, Map<string, readonly Own[]>>();
  for (const handler of handlers) {
    const { context, aggregate } = handler.aggregate;
    const byAggregate = byContext.get(context) ?? new Map<string, readonly Own[]>();
    byContext.set(context, byAggregate);
    byAggregate.set(aggregate, [...(byAggregate.get(aggregate) ?? []), handler]);
  }
  const handlersOf = ({ ref }: Commit): readonly Own[] => byContext.get(ref.context)?.get(ref.aggregate) ?? [];

  return {
    wants: (commit) =>
      handlersOf(commit).some(({ names }) => names === undefined || commit.events.some(({ name }) => names.has(name))),
    handle: (commit) => {
      const own = handlersOf(commit);
      const first = own[0];
      if (first === undefined) return [];
      if (first.names === undefined) return [callWithState(first, commit, models)];
      const fields = fieldsOf(commit);
      const calls: HandlerCall[] = [];
      commit.events.forEach((event, eventIndex) => {
        const handler = own.find(({ names }) => names?.has(event.name) === true);
        if (handler === undefined) return;
        calls.push(
          handlerCall(eventIndex, handler.call(typedEvent(fields, { event, eventIndex, handler, commit })), models),
        );
      });
      return calls;
    },
  };
}

function callWithState(handler: Own, commit: Commit, models: readonly ModelShape[]): HandlerCall {
  requireState(handler, commit);
  // Assigned, not copied over: this runs once per commit.
  const event = Object.assign(fieldsOf(commit), { events: commit.events.map(toEvent), state: commit.state });
  return handlerCall(EVENT_INDEX_STATE, handler.call(event), models);
}

function typedEvent(
  fields: CommitFields,
  call: { readonly event: CommittedEvent; readonly eventIndex: number; readonly handler: Own; readonly commit: Commit },
): CommitFields {
  const typed = { ...fields, ...toEvent(call.event, call.eventIndex) };
  if (!call.handler.aggregate.carriesState) return typed;
  requireState(call.handler, call.commit);
  return { ...typed, state: call.commit.state } as CommitFields;
}

function requireState(handler: Own, commit: Commit): void {
  if (commit.hasState) return;
  throw new StateMissingError(
    `Commit ${commit.id} (${commit.refKey} version ${commit.version}) carries no state, but a handler of ${handler.aggregate.name} is promised one.`,
    { hint: `Follow the event topic (topic: 'event') or have the publisher write the state.` },
  );
}

function toEvent({ name, body, revision, id }: CommittedEvent, eventIndex: number) {
  return { name, body, revision, eventIndex, eventId: id };
}

function fieldsOf(commit: Commit): CommitFields {
  return {
    ref: commit.ref,
    version: commit.version,
    commitTime: commit.createTime,
    scope: { ownerId: commit.ownerId, spaceId: commit.spaceId, tags: commit.tags, deleted: commit.deleted },
    header: commit.header,
    commitId: commit.id,
    commandId: commit.commandId,
    requestId: commit.requestId,
  };
}
