import { describe, expect, test } from 'vitest';
import { aggregate } from '../../../src/aggregates/aggregate.ts';
import { into, projection } from '../../../src/projections/projection.ts';
import { readModel } from '../../../src/read-models/read-model.ts';
import { checkWorker, DefinitionError, worker, workerProblems } from '../../../src/subscriptions/worker.ts';

const Order = aggregate<{ n: number }, { placed: object }>('shop.order');
const Orders = readModel<{ n: number }>('orders');
const Others = readModel<{ n: number }>('others');
const good = into(
  Orders,
  Order.onState(({ ref, state }) => Orders.put(ref.id, { n: state.n })),
);
const other = into(
  Others,
  Order.onState(({ ref, state }) => Others.put(ref.id, { n: state.n })),
);

describe('A worker', () => {
  test('has the subscriptions of all its processors, in their order', () => {
    const definition = worker({
      context: 'shop',
      subscriptions: [projection('A', { onEvent: good }), projection('B', { onEvent: other })],
    });
    expect(definition.subscriptions.map(({ name }) => name)).toEqual(['A.onEvent', 'B.onEvent']);
    expect(workerProblems(definition)).toEqual([]);
    expect(() => checkWorker(definition)).not.toThrow();
  });

  test('without a context or a subscription is told both', () => {
    expect(workerProblems(worker({ context: '', subscriptions: [] }))).toEqual([
      'worker: expected a context that is not empty',
      'worker: has no subscription',
    ]);
  });

  test.each(['Order Projection', '1st', 'A.b', '', 'Ä'])('refuses the processor name %j', (name) => {
    const [problem] = workerProblems(worker({ context: 'shop', subscriptions: [projection(name, { onEvent: good })] }));
    expect(problem).toContain('expected a name of the form Processor.function');
  });

  test('refuses two functions of one name, and a model that two functions write', () => {
    const definition = worker({
      context: 'shop',
      subscriptions: [
        projection('A', { onEvent: good }),
        projection('A', { onEvent: other }),
        projection('B', { onIt: good }),
      ],
    });
    expect(workerProblems(definition)).toEqual([
      'A.onEvent: two functions have this name',
      "B.onIt: read model 'orders' is written by A.onEvent already",
    ]);
  });

  test('is refused with all problems in message and details, and a hint', () => {
    const check = () => checkWorker(worker({ context: '', subscriptions: [] }));
    expect(check).toThrow(DefinitionError);
    expect(check).toThrow(
      '2 problem(s):\n- worker: expected a context that is not empty\n- worker: has no subscription',
    );
    expect(caught(check)).toMatchObject({ code: 'DEFINITION_INVALID', hint: expect.any(String) as string });
  });
});

function caught(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
