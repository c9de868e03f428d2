import { TidemarkError } from '../runtime/errors.ts';
import type { Subscription } from './subscription.ts';

/** Anything that brings subscriptions: a projection or a reactor. */
export type Processor = {
  readonly kind: string;
  readonly name: string;
  readonly subscriptions: readonly Subscription[];
};

export type Worker = {
  readonly kind: 'tidemark.worker';
  /** Its own bounded context; an aggregate of another one is foreign, which changes the default start. */
  readonly context: string;
  readonly subscriptions: readonly Subscription[];
};

/** The definitions of a worker contradict each other or themselves. `details.problems` lists all of them. */
export class DefinitionError extends TidemarkError {
  readonly code = 'DEFINITION_INVALID';
}

/** Declares what a worker runs. Plain value: mistakes are listed, all at once, when it starts. */
export function worker(definition: { readonly context: string; readonly subscriptions: readonly Processor[] }): Worker {
  return {
    kind: 'tidemark.worker',
    context: definition.context,
    subscriptions: definition.subscriptions.flatMap(({ subscriptions }) => subscriptions),
  };
}

/** Every mistake in a worker's definitions, a sentence each. */
export function workerProblems({ context, subscriptions }: Worker): readonly string[] {
  const problems: string[] = [];
  if (context === '') problems.push('worker: expected a context that is not empty');
  if (subscriptions.length === 0) problems.push('worker: has no subscription');
  for (const subscription of subscriptions) {
    problems.push(...subscription.problems.map((problem) => `${subscription.name}: ${problem}`));
    if (!/^[A-Za-z_][\w-]*\.[A-Za-z_][\w-]*$/.test(subscription.name)) {
      problems.push(
        `${subscription.name}: expected a name of the form Processor.function, of letters, digits, - and _`,
      );
    }
  }
  problems.push(...duplicateNames(subscriptions), ...sharedModels(subscriptions));
  return problems;
}

/** Throws `DefinitionError` unless the definitions stand. */
export function checkWorker(definition: Worker): void {
  const problems = workerProblems(definition);
  if (problems.length === 0) return;
  throw new DefinitionError(
    `The worker's definitions have ${problems.length} problem(s):\n- ${problems.join('\n- ')}`,
    {
      details: { problems },
      hint: 'Correct the definitions in the app module; nothing was started.',
    },
  );
}

function duplicateNames(subscriptions: readonly Subscription[]): readonly string[] {
  const seen = new Set<string>();
  return subscriptions.flatMap(({ name }) => {
    if (seen.has(name)) return [`${name}: two functions have this name`];
    seen.add(name);
    return [];
  });
}

function sharedModels(subscriptions: readonly Subscription[]): readonly string[] {
  const writers = new Map<string, string>();
  return subscriptions.flatMap(({ name, models }) =>
    models.flatMap((model) => {
      const writer = writers.get(model.name);
      writers.set(model.name, writer ?? name);
      return writer === undefined ? [] : [`${name}: read model '${model.name}' is written by ${writer} already`];
    }),
  );
}
