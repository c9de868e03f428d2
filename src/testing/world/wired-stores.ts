import type { LogSession } from '../../log/log-source.ts';
import type { Stores } from '../../subscriptions/stores.ts';
import type { Wire } from './wire.ts';

/** The same stores at the other end of a wire. */
export function wiredStores({ log, checkpoints, readModels, ledger }: Stores, wire: Wire): Stores {
  return {
    log: {
      describe: (topic, partitions) => wire.call('log.describe', () => log.describe(topic, partitions)),
      offsetsAt: (topic, instantMs) => wire.call('log.offsetsAt', () => log.offsetsAt(topic, instantMs)),
      open: (subscription, topics) => wiredSession(log.open(subscription, topics), wire),
      readAt: (position) => wire.call('log.readAt', () => log.readAt(position)),
      mirror: (subscription, position) => log.mirror(subscription, position),
    },
    checkpoints: {
      initialisation: (scope, topic) =>
        wire.call('checkpoints.initialisation', () => checkpoints.initialisation(scope, topic)),
      initialise: (scope, starts) => wire.call('checkpoints.initialise', () => checkpoints.initialise(scope, starts)),
      claim: (scope, partition, owner) =>
        wire.call('checkpoints.claim', () => checkpoints.claim(scope, partition, owner)),
      save: (save) => wire.call('checkpoints.save', () => checkpoints.save(save)),
      read: (scope, partition) => wire.call('checkpoints.read', () => checkpoints.read(scope, partition)),
      reset: (reset) => wire.call('checkpoints.reset', () => checkpoints.reset(reset)),
      drop: (scope) => wire.call('checkpoints.drop', () => checkpoints.drop(scope)),
      list: () => wire.call('checkpoints.list', () => checkpoints.list()),
    },
    readModels: {
      prepare: (scope, model) => wire.call('readModels.prepare', () => readModels.prepare(scope, model)),
      commit: (batch) => wire.call('readModels.commit', () => readModels.commit(batch)),
      readRow: (model, id) => wire.call('readModels.readRow', () => readModels.readRow(model, id)),
      readRows: (model, page) => wire.call('readModels.readRows', () => readModels.readRows(model, page)),
      listModels: () => wire.call('readModels.listModels', () => readModels.listModels()),
    },
    ledger: {
      membership: (scope, partition) => wire.call('ledger.membership', () => ledger.membership(scope, partition)),
      elsewhere: (scope, partition) => wire.call('ledger.elsewhere', () => ledger.elsewhere(scope, partition)),
      entries: (scope, sequence, options) =>
        wire.call('ledger.entries', () => ledger.entries(scope, sequence, options)),
      entryAt: (scope, position) => wire.call('ledger.entryAt', () => ledger.entryAt(scope, position)),
      list: (filter, limit) => wire.call('ledger.list', () => ledger.list(filter, limit)),
      count: (scope) => wire.call('ledger.count', () => ledger.count(scope)),
    },
  };
}

function wiredSession(session: LogSession, wire: Wire): LogSession {
  return {
    assignments: (signal) => session.assignments(signal),
    pull: (from, limits, signal) => wire.call('log.pull', () => session.pull(from, limits, signal)),
    stop: () => session.stop(),
  };
}
