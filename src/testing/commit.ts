import type { EventAggregate, StateAggregate } from '../aggregates/aggregate.ts';
import type { AggregateShape } from '../aggregates/aggregate-shape.ts';
import type { CommitRecord } from '../log/commit-record.ts';

/** An event to commit, its body typed by its name. */
export type EventToCommit<Events extends object> = {
  readonly [Name in keyof Events & string]: {
    readonly name: Name;
    readonly body: Events[Name];
    /** Default `0.0.1`. */
    readonly revision?: string;
  };
}[keyof Events & string];

/** What a commit without state is made of; everything but id and events has a default. */
export type EventCommitFields<Events extends object> = {
  /** Id of the aggregate. */
  readonly id: string;
  readonly events: readonly [EventToCommit<Events>, ...EventToCommit<Events>[]];
  /** Default 1. */
  readonly version?: number;
  /** Default `(0)`. */
  readonly tenantId?: string;
  readonly ownerId?: string;
  readonly spaceId?: string;
  readonly tags?: Readonly<Record<string, unknown>>;
  readonly deleted?: boolean;
  readonly header?: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; default: a fixed day, one second later with each version. */
  readonly commitTime?: number;
  /** Default: made of the aggregate and the version, so the same commit made twice is the same commit. */
  readonly commitId?: string;
};

/** What a commit with state is made of. */
export type StateCommitFields<State, Events extends object> = EventCommitFields<Events> & {
  /** State after the commit. */
  readonly state: State;
};

const FIRST_COMMIT_MS = Date.UTC(2026, 0, 1);

/** A commit of `aggregate` as its publisher would write it, for `projectionSpec` and for logs of tests. */
export function commit<State, Events extends object>(
  aggregate: StateAggregate<State, Events>,
  fields: StateCommitFields<State, Events>,
): CommitRecord;
export function commit<Events extends object>(
  aggregate: EventAggregate<Events>,
  fields: EventCommitFields<Events>,
): CommitRecord;
export function commit<Events extends object>(
  { context, aggregate }: AggregateShape,
  fields: EventCommitFields<Events> & { readonly state?: unknown },
): CommitRecord {
  const { id, version = 1, tenantId = '(0)', ownerId = '' } = fields;
  const commitId = fields.commitId ?? [context, aggregate, tenantId, id, version].join('/');
  return {
    id: commitId,
    contextName: context,
    aggregateName: aggregate,
    tenantId,
    aggregateId: id,
    ownerId,
    spaceId: fields.spaceId ?? '',
    commandId: `${commitId}/command`,
    requestId: `${commitId}/request`,
    version,
    createTime: fields.commitTime ?? FIRST_COMMIT_MS + version * 1_000,
    header: fields.header ?? {},
    body: fields.events.map(({ name, body, revision = '0.0.1' }, index) => ({
      id: `${commitId}/${index}`,
      name,
      revision,
      bodyType: `${context}.${aggregate}.${name}`,
      body,
    })),
    ...('state' in fields ? { state: fields.state } : {}),
    firstOperator: ownerId,
    firstEventTime: FIRST_COMMIT_MS,
    tags: fields.tags ?? {},
    deleted: fields.deleted ?? false,
  };
}
