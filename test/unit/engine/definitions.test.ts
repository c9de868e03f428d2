import { expect, test } from 'vitest';
import { aggregate } from '../../../src/aggregates/aggregate.ts';
import { into, projection } from '../../../src/projections/projection.ts';
import { readModel } from '../../../src/read-models/read-model.ts';
import { DefinitionError, worker } from '../../../src/subscriptions/worker.ts';
import { keepRow, Order, Orders, shopWorld } from './shop-world.ts';

test('An engine lists every mistake of the definitions at once, and starts nothing', async () => {
  const world = shopWorld();
  const Closed = aggregate<object, { opened: object; shut: object }>('shop.account', { events: ['opened'] });
  const Bad = readModel<{ n: number }>('Bad-Name');
  const definition = worker({
    context: '',
    subscriptions: [
      projection('OrderProjection', {
        onEvent: into(
          Orders,
          Order.onState(keepRow),
          Order.on('order_shipped', () => undefined),
        ),
        onAgain: into(Orders, Order.onState(keepRow)),
      }),
      projection('OrderProjection', {
        onEvent: into(
          Bad,
          Closed.on('shut', () => undefined, { start: 'soon' }),
        ),
      }),
    ],
  });
  const process = world.process(definition);
  const problems = problemsOf(() => process.engine.start());
  expect(problems).toEqual([
    'worker: expected a context that is not empty',
    'OrderProjection.onEvent: two handlers match the events of shop.order',
    expect.stringContaining('"Bad-Name"'),
    "OrderProjection.onEvent: shop.account declares no event 'shut'; it has opened",
    expect.stringContaining('"soon" is not a start'),
    'OrderProjection.onEvent: two functions have this name',
    "OrderProjection.onAgain: read model 'orders' is written by OrderProjection.onEvent already",
  ]);
  await world.clock.advance(10_000);
  expect(await world.stores.readModels.listModels()).toEqual([]);
});

function problemsOf(start: () => void): unknown {
  try {
    start();
  } catch (error) {
    return error instanceof DefinitionError ? error.details['problems'] : error;
  }
  return undefined;
}
