/** The worker: follows a topic with one projection until it has caught up. Prints one line of JSON. */
import { argv, stdout } from 'node:process';
import { aggregate, Engine, into, projection, readModel, silentLogger, worker } from 'tidemark';
import { openKafkaLog } from 'tidemark/kafka';
import { openMongo } from 'tidemark/mongo';
import { nodeRuntime } from 'tidemark/node';
import type { OrderEvents, OrderState } from '../../examples/eshop/order.ts';
import { keepHeapLean } from '../../src/cli/lean-heap.ts';
import { configSchema } from '../../src/config/schema.ts';
import { subscriptionSettings } from '../../src/config/subscription-settings.ts';

keepHeapLean();

const [, , brokers = '', url = '', database = '', topic = '', kind = 'rows'] = argv;
const runtime = nodeRuntime(silentLogger);
const Order = aggregate<OrderState, OrderEvents>('eshop.order', { topicName: topic });
const Rows = readModel<{ buyer: string; status: string; amount: number; units: number; version: number }>('bench_rows');
const Nothing = readModel<{ n: number }>('bench_nothing');

const benchProjection =
  kind === 'nothing'
    ? projection('BenchNothing', {
        onEvent: into(
          Nothing,
          Order.onState(() => undefined),
        ),
      })
    : projection('BenchRows', {
        onEvent: into(
          Rows,
          Order.onState(({ ref, state, scope, version }) =>
            Rows.put([ref.tenantId, ref.id], {
              buyer: scope.ownerId,
              status: state.status,
              amount: state.totalAmount,
              version,
              units: state.lines.reduce((sum, { quantity }) => sum + quantity, 0),
            }),
          ),
        ),
      });

await using log = openKafkaLog({ brokers: brokers.split(','), clientId: `bench-${process.pid}`, runtime });
await using mongo = await openMongo({ url, database, service: 'eshop', runtime });
const config = configSchema.parse({ store: { kind: 'mongodb', url, database } });
const { checkpoints, readModels, ledger } = mongo;
const engine = new Engine({
  worker: worker({ context: 'eshop', subscriptions: [benchProjection] }),
  stores: { log: log.log, checkpoints, readModels, ledger },
  runtime,
  settings: (subscription) => subscriptionSettings(config, subscription),
  owner: 'bench',
});
const startedMs = performance.now();
engine.start();
await engine.caughtUp(new AbortController().signal);
const ms = performance.now() - startedMs;
const records = engine.status().reduce((sum, { taken }) => sum + taken, 0);
await engine.stop();
stdout.write(`${JSON.stringify({ ms, records, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
