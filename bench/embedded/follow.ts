/** The worker: follows the whole log with one projection until it has caught up. Prints one line of JSON. */
import { argv, stdout } from 'node:process';
import {
  aggregate,
  defaultSettings,
  Engine,
  into,
  type Projection,
  projection,
  readModel,
  silentLogger,
  worker,
} from 'tidemark';
import { openEmbedded } from 'tidemark/embedded';
import { nodeRuntime } from 'tidemark/node';
import type { OrderEvents, OrderState } from '../../examples/eshop/order.ts';
import { keepHeapLean } from '../../src/cli/lean-heap.ts';

// As the command line does.
keepHeapLean();

const [, , file = '', kind = 'rows', round = '0'] = argv;
const Order = aggregate<OrderState, OrderEvents>('eshop.order');

function rowsProjection(): Projection {
  const model = readModel<{ buyer: string; status: string; amount: number; units: number; version: number }>(
    `bench_rows_${round}`,
  );
  const handler = Order.onState(({ ref, state, scope, version }) =>
    model.put([ref.tenantId, ref.id], {
      buyer: scope.ownerId,
      status: state.status,
      amount: state.totalAmount,
      version,
      units: state.lines.reduce((sum, { quantity }) => sum + quantity, 0),
    }),
  );
  return projection(`BenchRows${round}`, { onEvent: into(model, handler) });
}

function totalsProjection(): Projection {
  const model = readModel<{ orders: number; amount: number }>(`bench_totals_${round}`, { kind: 'totals' });
  const handler = Order.onState(({ ref, state, scope }) =>
    model.contribute([ref.tenantId, scope.ownerId], { orders: 1, amount: state.totalAmount }),
  );
  return projection(`BenchTotals${round}`, { onEvent: into(model, handler) });
}

await using embedded = await openEmbedded({ file, role: 'follower' });
const engine = new Engine({
  worker: worker({ context: 'eshop', subscriptions: [kind === 'totals' ? totalsProjection() : rowsProjection()] }),
  stores: embedded,
  runtime: nodeRuntime(silentLogger),
  settings: () => defaultSettings,
  owner: 'bench',
});
const startedMs = performance.now();
engine.start();
await engine.caughtUp(new AbortController().signal);
const ms = performance.now() - startedMs;
await engine.stop();

let rows = 0;
let check = 0;
for (let afterId: string | undefined; ; ) {
  const page = await embedded.readModels.readRows(`bench_${kind}_${round}`, { afterId, limit: 1_000 });
  if (page.length === 0) break;
  for (const { row } of page) check += Number(kind === 'totals' ? row['orders'] : row['version']);
  rows += page.length;
  afterId = page.at(-1)?.id;
}
const records = engine.status().reduce((sum, { taken }) => sum + taken, 0);
stdout.write(`${JSON.stringify({ ms, records, rows, check, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
