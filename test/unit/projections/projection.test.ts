import { describe, expect, test } from 'vitest';
import { aggregate } from '../../../src/aggregates/aggregate.ts';
import { refOf } from '../../../src/log/ref.ts';
import { into, projection } from '../../../src/projections/projection.ts';
import { readModel } from '../../../src/read-models/read-model.ts';
import { topicsOf } from '../../../src/subscriptions/subscription.ts';

type OrderEvents = { placed: { item: string }; paid: { amount: number }; shipped: object };
const Order = aggregate<{ status: string }, OrderEvents>('shop.order');
const Payment = aggregate<{ method: string }, { paid: object }>('shop.payment');
const OrderEvent = aggregate<never, OrderEvents>('shop.order', { topic: 'event' });
const Orders = readModel<{ status: string }>('orders');
const Moving = readModel<{ status: string }>('moving_orders', { moves: true });
const Totals = readModel<{ n: number }>('totals', { kind: 'totals' });

function problemsOf(...handlers: Parameters<typeof into> extends [unknown, ...infer Rest] ? Rest : never) {
  return projection('P', { f: into(Orders, ...handlers) }).subscriptions[0]?.problems;
}

describe('A projection', () => {
  test('makes a subscription of each function, with its aggregates, topics and models', () => {
    const definition = projection('OrderProjection', {
      onEvent: into(
        Orders,
        Order.on('placed', () => undefined),
        Order.on('paid', () => undefined),
      ),
      onBoth: into(
        [Moving, Totals],
        Order.onState(() => []),
        Payment.onState(() => []),
      ),
    });
    expect(definition.subscriptions).toMatchObject([
      { name: 'OrderProjection.onEvent', kind: 'projection', keepsSources: false, start: undefined, problems: [] },
      { name: 'OrderProjection.onBoth', keepsSources: true, problems: [] },
    ]);
    expect(definition.subscriptions.map(topicsOf)).toEqual([
      ['wow.shop.order.state'],
      ['wow.shop.order.state', 'wow.shop.payment.state'],
    ]);
    expect(definition.subscriptions[1]?.models.map(({ name }) => name)).toEqual(['moving_orders', 'totals']);
  });

  test('keeps source records exactly where guards in rows are not enough', () => {
    const keeps = (model: typeof Orders | typeof Totals) =>
      projection('P', {
        f: into(
          model,
          Order.onState(() => []),
        ),
      }).subscriptions[0]?.keepsSources;
    expect([keeps(Orders), keeps(Moving), keeps(Totals)]).toEqual([false, true, true]);
  });

  test('takes its start from its handlers, which may not differ', () => {
    const start = '2026-01-01T00:00:00Z';
    const one = projection('P', {
      f: into(
        Orders,
        Order.onState(() => [], { start }),
        Payment.onState(() => []),
      ),
    });
    expect(one.subscriptions[0]).toMatchObject({ start, problems: [] });
    expect(
      problemsOf(
        Order.onState(() => [], { start: 'end' }),
        Payment.onState(() => [], { start }),
      ),
    ).toEqual([`its handlers give different starts: end, ${start}`]);
    expect(problemsOf(Order.onState(() => [], { start: 'now' }))).toEqual([
      expect.stringContaining('"now" is not a start'),
    ]);
    expect(problemsOf(Order.onState(() => [], { start: '2026-01-01T00:00:00' }))).toHaveLength(1);
  });

  test('has no two handlers that match one event', () => {
    const on = (names: keyof OrderEvents | (keyof OrderEvents)[]) => Order.on(names, () => []);
    expect(
      problemsOf(
        on('placed'),
        on(['paid', 'shipped']),
        Payment.on('paid', () => []),
      ),
    ).toEqual([]);
    expect(problemsOf(on('placed'), on(['paid', 'placed']))).toEqual([
      "two handlers match the event 'placed' of shop.order",
    ]);
    expect(
      problemsOf(
        Order.onState(() => []),
        on('paid'),
      ),
    ).toEqual(['two handlers match the events of shop.order']);
    expect(
      problemsOf(
        on('paid'),
        Order.onState(() => []),
      ),
    ).toEqual(['two handlers match the events of shop.order']);
    expect(
      problemsOf(
        Order.onState(() => []),
        Order.onState(() => []),
      ),
    ).toHaveLength(1);
    expect(problemsOf(on([]))).toEqual(['a handler of shop.order names no event']);
  });

  test('has functions as handlers', () => {
    const missing: unknown = undefined;
    expect(problemsOf(Order.onState(missing as () => []))).toEqual(['a handler of shop.order is no function']);
  });

  test('follows the primary aggregate of its joined models: without it no row would ever be seen', () => {
    const Joined = readModel<{ n: number }>('joined_rows', { kind: 'joined', primary: Payment });
    const [alone] = projection('P', {
      f: into(
        Joined,
        Order.onState(() => []),
      ),
    }).subscriptions;
    expect(alone?.problems).toEqual([
      'the primary aggregate shop.payment of the read model joined_rows has no handler in it',
    ]);
    const both = into(
      Joined,
      Order.onState(() => []),
      Payment.onState(() => []),
    );
    expect(projection('P', { f: both }).subscriptions[0]?.problems).toEqual([]);
  });

  test('without a model or a handler is told so', () => {
    expect(projection('P', { f: into([]) }).subscriptions[0]?.problems).toEqual([
      'names no read model',
      'has no handler',
    ]);
  });
});

describe('An aggregate followed by its event topic', () => {
  test('calls handlers without a state', () => {
    const seen: object[] = [];
    const definition = projection('P', {
      f: into(
        Orders,
        OrderEvent.on(['placed', 'paid'], (event) => {
          seen.push(event);
        }),
      ),
    });
    const [subscription] = definition.subscriptions;
    expect(subscription && topicsOf(subscription)).toEqual(['wow.shop.order.event']);
    subscription?.handler.handle(commitOf(['placed', 'shipped', 'paid'], false));
    expect(seen).toMatchObject([
      { name: 'placed', eventIndex: 0, eventId: 'e0' },
      { name: 'paid', eventIndex: 2, eventId: 'e2' },
    ]);
    expect(seen[0]).not.toHaveProperty('state');
  });
});

describe('Handlers', () => {
  const { subscriptions } = projection('P', {
    f: into(
      Orders,
      Order.on(['placed', 'paid'], ({ ref, state, name }) => Orders.put(ref.id, { status: `${name} ${state.status}` })),
    ),
  });
  const handler = subscriptions[0]?.handler;

  test('are called once for each matching event, in event order, with the state after the commit', () => {
    expect(handler?.handle(commitOf(['paid', 'shipped', 'placed']))).toMatchObject([
      { eventIndex: 0, writes: [{ kind: 'put', id: 'a', row: { status: 'paid open' } }] },
      { eventIndex: 2, writes: [{ kind: 'put', id: 'a', row: { status: 'placed open' } }] },
    ]);
  });

  test('want a commit with one matching event at least', () => {
    expect(handler?.wants(commitOf(['shipped']))).toBe(false);
    expect(handler?.wants(commitOf(['shipped', 'paid']))).toBe(true);
    expect(handler?.handle(commitOf(['shipped']))).toEqual([]);
  });

  test('are not called for an aggregate they do not name', () => {
    const foreign = { ...commitOf(['paid']), ref: { context: 'shop', aggregate: 'cart', tenantId: '(0)', id: 'a' } };
    expect(handler?.wants(foreign)).toBe(false);
    expect(handler?.handle(foreign)).toEqual([]);
  });

  test('that are promised a state are not called without one', () => {
    expect(() => handler?.handle(commitOf(['paid'], false))).toThrow(
      /carries no state, but a handler of shop.order is promised one/,
    );
  });

  test('of whole commits count as after all events, and get the fields of the commit', () => {
    const seen: unknown[] = [];
    const whole = projection('P', {
      f: into(
        Orders,
        Order.onState((event) => {
          seen.push(event);
          return Orders.remove(event.ref.id);
        }),
      ),
    }).subscriptions[0]?.handler;
    expect(whole?.handle(commitOf(['shipped', 'paid']))).toMatchObject([{ eventIndex: 2_147_483_647 }]);
    expect(seen).toMatchObject([
      {
        ref: { id: 'a' },
        version: 3,
        commitTime: 5,
        scope: { ownerId: 'o', spaceId: 's', tags: { t: 1 }, deleted: true },
        header: { h: 'x' },
        commitId: 'c',
        commandId: 'cc',
        requestId: 'r',
        state: { status: 'open' },
        events: [{ name: 'shipped' }, { name: 'paid' }],
      },
    ]);
  });
});

function commitOf(names: readonly string[], hasState = true) {
  const ref = { context: 'shop', aggregate: 'order', tenantId: '(0)', id: 'a' };
  return {
    id: 'c',
    ref,
    refKey: refOf(ref),
    ownerId: 'o',
    spaceId: 's',
    commandId: 'cc',
    requestId: 'r',
    version: 3,
    createTime: 5,
    header: { h: 'x' },
    events: names.map((name, index) => ({ id: `e${index}`, name, revision: '0.0.1', bodyType: '', body: {} })),
    hasState,
    state: hasState ? { status: 'open' } : undefined,
    firstOperator: '',
    firstEventTime: 0,
    tags: { t: 1 },
    deleted: true,
    reservations: undefined,
  };
}
