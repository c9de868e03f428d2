import type { Handler } from '../aggregates/handler.ts';
import { messageOf } from '../runtime/errors.ts';
import { parseStart } from '../subscriptions/start.ts';

/** Handlers of one function that would both match an event, or name an event that their aggregate does not declare. */
export function overlapProblems(handlers: readonly Handler<unknown>[]): readonly string[] {
  const problems: string[] = [];
  const matched = new Map<string, Set<string> | 'all'>();
  for (const { aggregate, names, call } of handlers) {
    if (typeof call !== 'function') problems.push(`a handler of ${aggregate.name} is no function`);
    const before = matched.get(aggregate.name);
    if (names === undefined) {
      if (before !== undefined) problems.push(`two handlers match the events of ${aggregate.name}`);
      if (!aggregate.carriesState)
        problems.push(`onState needs the state topic, but ${aggregate.name} follows its event topic`);
      matched.set(aggregate.name, 'all');
      continue;
    }
    if (before === 'all') problems.push(`two handlers match the events of ${aggregate.name}`);
    if (names.size === 0) problems.push(`a handler of ${aggregate.name} names no event`);
    const seen = before === undefined || before === 'all' ? new Set<string>() : before;
    for (const name of names) {
      if (seen.has(name)) problems.push(`two handlers match the event '${name}' of ${aggregate.name}`);
      if (aggregate.events !== undefined && !aggregate.events.has(name)) {
        problems.push(`${aggregate.name} declares no event '${name}'; it has ${[...aggregate.events].join(', ')}`);
      }
      seen.add(name);
    }
    if (before !== 'all') matched.set(aggregate.name, seen);
  }
  return problems;
}

/** Starts that are not readable, or differ between the handlers of one function. */
export function startProblems(handlers: readonly Handler<unknown>[]): readonly string[] {
  const starts = [...new Set(handlers.map(({ start }) => start).filter((start) => start !== undefined))];
  if (starts.length > 1) return [`its handlers give different starts: ${starts.join(', ')}`];
  return starts.flatMap((start) => {
    try {
      parseStart(start);
      return [];
    } catch (error) {
      return [messageOf(error)];
    }
  });
}
