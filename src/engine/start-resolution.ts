import type { Initialisation, PartitionStart } from '../checkpoints/initialisation.ts';
import type { LogSource, TopicDescription } from '../log/log-source.ts';
import type { Clock } from '../runtime/clock.ts';
import { TidemarkError } from '../runtime/errors.ts';
import { formatInstant } from '../runtime/instant.ts';
import { defaultStart, originOf, parseStart, type Start } from '../subscriptions/start.ts';
import type { Subscription } from '../subscriptions/subscription.ts';

/** A start that lies in the future: nothing would ever say what was skipped. */
export class StartInFutureError extends TidemarkError {
  readonly code = 'START_IN_FUTURE';
}

export type StartChoice = { readonly start: Start; readonly origin: string };

/** Where a subscription starts in a topic while it has no checkpoint: config, then code, then the kind's default. */
export function chooseStart(
  subscription: Subscription,
  where: { readonly topic: string; readonly context: string; readonly configured: string | undefined },
): StartChoice {
  const { kind } = subscription;
  if (where.configured !== undefined) {
    const start = parseStart(where.configured);
    return { start, origin: originOf(start, 'config') };
  }
  if (subscription.start !== undefined) {
    const start = parseStart(subscription.start);
    return { start, origin: originOf(start, 'code') };
  }
  const isForeign = subscription.aggregates.some(
    (aggregate) => aggregate.topic === where.topic && aggregate.context !== where.context,
  );
  const start = defaultStart(kind, isForeign);
  return { start, origin: originOf(start, `${kind} default`) };
}

/** The offsets of all partitions that the topic has now; none while it does not exist. */
export async function resolveStart(
  { start, origin }: StartChoice,
  description: TopicDescription,
  { log, clock }: { readonly log: LogSource; readonly clock: Clock },
): Promise<Initialisation> {
  return {
    topic: description.topic,
    identity: description.identity,
    starts: await offsetsOf(start, description, { log, clock }),
    origin,
    isHistoryIncomplete: start.kind === 'beginning' && description.partitions.some(({ low }) => low > 0),
  };
}

async function offsetsOf(
  start: Start,
  { topic, partitions }: TopicDescription,
  { log, clock }: { readonly log: LogSource; readonly clock: Clock },
): Promise<readonly PartitionStart[]> {
  switch (start.kind) {
    case 'beginning':
      return partitions.map(({ partition, low }) => ({ partition, offset: low }));
    case 'end':
      return partitions.map(({ partition, end }) => ({ partition, offset: end }));
    case 'instant': {
      if (start.instantMs > clock.nowMs()) {
        throw new StartInFutureError(`The start ${formatInstant(start.instantMs)} of ${topic} lies in the future.`, {
          hint: 'Give an instant that has passed, or "end".',
        });
      }
      const offsets = await log.offsetsAt(topic, start.instantMs);
      return partitions.map(({ partition, end }) => ({ partition, offset: offsets.get(partition) ?? end }));
    }
  }
}
