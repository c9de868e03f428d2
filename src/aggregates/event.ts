import type { Ref } from '../log/ref.ts';

/** Owner, space, tags and deletion of the aggregate as the record says; blank means none. */
export type EventScope = {
  readonly ownerId: string;
  readonly spaceId: string;
  readonly tags: Readonly<Record<string, unknown>>;
  readonly deleted: boolean;
};

/** What every handler gets of a commit. */
export type CommitFields = {
  readonly ref: Ref;
  /** Version of the aggregate after this commit, ≥ 1. */
  readonly version: number;
  /** When it was committed, milliseconds since the epoch. */
  readonly commitTime: number;
  readonly scope: EventScope;
  readonly header: Readonly<Record<string, string>>;
  readonly commitId: string;
  readonly commandId: string;
  readonly requestId: string;
};

/** One event of a commit, its body typed by its name. `Events` maps event names to bodies. */
export type EventOf<Events extends object, Name extends keyof Events = keyof Events> = Name extends keyof Events
  ? {
      readonly name: Name;
      readonly body: Events[Name];
      readonly revision: string;
      /** 0-based place in the commit. */
      readonly eventIndex: number;
      readonly eventId: string;
    }
  : never;

/** What an `onState` handler gets: a whole commit with the state after it. */
export type StateEvent<State, Events extends object> = CommitFields & {
  readonly events: readonly EventOf<Events>[];
  readonly state: State;
};

/** What an `on` handler of an aggregate followed by its state topic gets: one event, with the state after its commit. */
export type StateTypedEvent<State, Event> = CommitFields & Event & { readonly state: State };

/** What an `on` handler of an aggregate followed by its event topic gets: one event, without state. */
export type TypedEvent<Event> = CommitFields & Event;
