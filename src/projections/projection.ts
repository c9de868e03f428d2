import { type AggregateShape, aggregateProblems } from '../aggregates/aggregate-shape.ts';
import type { Handler } from '../aggregates/handler.ts';
import type { ModelShape } from '../read-models/model-shape.ts';
import type { ReadModel } from '../read-models/read-model.ts';
import { modelProblems } from '../read-models/read-model.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { overlapProblems, startProblems } from './handler-problems.ts';
import { projectionHandler } from './projection-handler.ts';
import type { ProjectionResult } from './projection-result.ts';

/** Handlers bound to the read models that they write, and nobody else does. */
export type ProjectionFunction = {
  readonly models: readonly ModelShape[];
  readonly handlers: readonly Handler<ProjectionResult>[];
};

/** A projection: its functions are subscriptions of their own. */
export type Projection = {
  readonly kind: 'projection';
  readonly name: string;
  readonly subscriptions: readonly Subscription[];
};

/**
 * Binds handlers of one or more aggregates to the read models they write. At most one handler may match any event; a
 * write to a model that is not named here parks the commit (`MODEL_NOT_DECLARED`).
 */
export function into(
  models: ReadModel | readonly ReadModel[],
  ...handlers: readonly Handler<ProjectionResult>[]
): ProjectionFunction {
  const list = 'shape' in models ? [models] : models;
  return { models: list.map((model) => model.shape), handlers };
}

/**
 * Declares a projection: each function is a subscription named `<name>.<function>` with its own checkpoints and failures;
 * it starts at the beginning of the log unless told otherwise. Handlers return writes and do nothing else: they may be
 * called again for the same commit at any time (a retry, a replay, another batch boundary).
 */
export function projection(name: string, functions: Readonly<Record<string, ProjectionFunction>>): Projection {
  return {
    kind: 'projection',
    name,
    subscriptions: Object.entries(functions).map(([own, definition]) => toSubscription(`${name}.${own}`, definition)),
  };
}

function toSubscription(name: string, { models, handlers }: ProjectionFunction): Subscription {
  const aggregates = [...new Map(handlers.map(({ aggregate }) => [aggregate.name, aggregate])).values()];
  return {
    name,
    kind: 'projection',
    aggregates,
    models,
    keepsSources: models.some(({ kind }) => kind === 'moves' || kind === 'totals'),
    start: handlers.find(({ start }) => start !== undefined)?.start,
    handler: projectionHandler(models, handlers),
    problems: functionProblems(models, handlers, aggregates),
  };
}

function functionProblems(
  models: readonly ModelShape[],
  handlers: readonly Handler<ProjectionResult>[],
  aggregates: readonly AggregateShape[],
): readonly string[] {
  const problems: string[] = [];
  if (models.length === 0) problems.push('names no read model');
  if (handlers.length === 0) problems.push('has no handler');
  for (const model of models) problems.push(...modelProblems({ shape: model }), ...primaryProblems(model, aggregates));
  for (const shape of aggregates) problems.push(...aggregateProblems(shape));
  problems.push(...overlapProblems(handlers), ...startProblems(handlers));
  return problems;
}

/** Without a part of the primary no row of a joined model is ever seen. */
function primaryProblems({ name, primary }: ModelShape, aggregates: readonly AggregateShape[]): readonly string[] {
  if (primary === undefined || aggregates.some((aggregate) => aggregate.name === primary)) return [];
  return [`the primary aggregate ${primary} of the read model ${name} has no handler in it`];
}
