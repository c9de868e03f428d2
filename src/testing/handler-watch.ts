import { isDeepStrictEqual } from 'node:util';
import type { Commit } from '../log/commit.ts';
import type { HandlerCall } from '../read-models/handled-commit.ts';
import type { Subscription } from '../subscriptions/subscription.ts';

type Written = { readonly version: number; readonly ids: ReadonlySet<string> };

/**
 * Watches what handlers return for two mistakes that no single delivery shows: a row id that is no function of the ref,
 * where rows cannot move, and results that differ from call to call.
 */
export class HandlerWatch {
  readonly #written = new Map<string, Written>();
  readonly #problems = new Set<string>();

  /** What was noticed, a sentence each. */
  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** The same subscription, watched. */
  watch(subscription: Subscription): Subscription {
    const { handler, name } = subscription;
    return {
      ...subscription,
      handler: {
        wants: (commit) => handler.wants(commit),
        handle: (commit) => {
          const calls = handler.handle(commit);
          if (!isDeepStrictEqual(handler.handle(commit), calls)) {
            this.#problems.add(
              `${name}: called twice for version ${commit.version} of ${commit.refKey} it returned different writes; a handler depends on its event alone`,
            );
          }
          this.#noteIds(name, commit, calls);
          return calls;
        },
      },
    };
  }

  #noteIds(subscription: string, commit: Commit, calls: readonly HandlerCall[]): void {
    const ids = new Map<string, Set<string>>();
    for (const { model, id } of calls.flatMap(({ writes }) => writes)) {
      if (model.kind !== 'rows' && model.kind !== 'joined') continue;
      ids.set(model.name, (ids.get(model.name) ?? new Set()).add(id));
    }
    for (const [model, now] of ids) {
      const key = JSON.stringify([subscription, model, commit.refKey]);
      const before = this.#written.get(key);
      this.#written.set(key, { version: commit.version, ids: now });
      // An aggregate may have several rows of one model, and a commit may write only some of them.
      const left = before?.ids.difference(now).values().next().value;
      const entered = before === undefined ? undefined : now.difference(before.ids).values().next().value;
      if (before === undefined || left === undefined || entered === undefined) continue;
      this.#problems.add(
        `${subscription}: ${commit.refKey} wrote row ${left} of ${model} at version ${before.version} and row ${entered} at version ${commit.version}; where rows do not move, a row's id is a function of the ref`,
      );
    }
  }
}
