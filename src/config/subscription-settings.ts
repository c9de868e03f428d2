import { defaultSettings, type SubscriptionSettings } from '../subscriptions/settings.ts';
import type { ConfigValues } from './schema.ts';

/** A transaction of MongoDB has bounds of its own. */
const behindDocuments: Readonly<Record<ConfigValues['store']['kind'], number>> = {
  embedded: defaultSettings.transaction.behindDocuments,
  mongodb: 1_000,
};

/** How a subscription runs: what the config has of its own for it, else the defaults. */
export function subscriptionSettings(
  { defaults, subscriptions, store }: ConfigValues,
  name: string,
): SubscriptionSettings {
  const own = Object.hasOwn(subscriptions, name) ? subscriptions[name] : undefined;
  const { batch, transaction, checkpoint, parked } = defaults;
  return {
    start: own?.start,
    batch: {
      records: own?.batch.records ?? batch.records,
      bytes: own?.batch.bytes ?? batch.bytes,
      waitMs: own?.batch.wait ?? batch.wait,
      gatherMs: own?.batch.gather ?? batch.gather,
    },
    transaction: {
      liveDocuments: own?.transaction.liveDocuments ?? transaction.liveDocuments,
      behindDocuments: own?.transaction.behindDocuments ?? transaction.behindDocuments ?? behindDocuments[store.kind],
      bytes: own?.transaction.bytes ?? transaction.bytes,
    },
    checkpoint: {
      records: own?.checkpoint.records ?? checkpoint.records,
      intervalMs: own?.checkpoint.interval ?? checkpoint.interval,
    },
    parked: {
      perAggregate: own?.parked.perAggregate ?? parked.perAggregate,
      perSubscription: own?.parked.perSubscription ?? parked.perSubscription,
    },
  };
}
