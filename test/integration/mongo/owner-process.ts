import { openMongo } from '../../../src/adapters/mongo/index.ts';
import { nodeRuntime } from '../../../src/adapters/node/node-runtime.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { claimed, scope } from '../../contracts/stores-subject.ts';
import { modelNamed, rowOf, writing } from './plans.ts';

/**
 * An owner in a process of its own: claims the partition, commits once, and sends itself a signal inside the next
 * transaction, after the checkpoint moved. Says what came of it, if it lives.
 */
const [url = '', database = '', signal = ''] = process.argv.slice(2);
const model = modelNamed('order_summary');
await using stores = await openMongo({ url, database, service: 'eshop', runtime: nodeRuntime(silentLogger) });
await stores.readModels.prepare(scope, model);
const owner = await claimed(stores);
await owner.commit({ offset: 1, plan: writing(model, [rowOf('O-1', { by: 'the dead' })]) });
const meanwhile = (): void => {
  process.stdout.write('inside\n');
  process.kill(process.pid, signal);
};
let isFirst = true;
const result = await owner.commit({
  offset: 2,
  plan: writing(model, [rowOf('O-1', { by: 'a ghost' }, 2), rowOf('O-2', { by: 'a ghost' })], {
    meanwhile: () => {
      if (isFirst) meanwhile();
      isFirst = false;
    },
  }),
});
process.stdout.write(`${result.kind}\n`);
