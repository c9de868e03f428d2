import {
  aggregate,
  type CommitRecord,
  into,
  type JoinedModel,
  type RowsModel,
  readModel,
  type TotalsModel,
  type Write,
} from 'tidemark';
import { commit } from 'tidemark/testing';
import { describe, expectTypeOf, test } from 'vitest';

/*
 * Checked by the compiler (`npm run types`): each `@ts-expect-error` is an error itself where the line below it compiles.
 * What must not compile stands in functions that nobody calls.
 */

type State = { readonly status: 'open' | 'closed'; readonly total: number };
type Events = {
  opened: { readonly by: string };
  changed: { readonly from: number; readonly to: number };
};
type Row = { readonly status: string; readonly total: number };

const Order = aggregate<State, Events>('shop.order');
const OrderEvents = aggregate<State, Events>('shop.order', { topic: 'event' });
const Rows = readModel<Row>('row_model');
const Moving = readModel<Row>('moving_model', { moves: true });
const Joined = readModel<Row>('joined_model', { kind: 'joined', primary: Order });
const Totals = readModel<{ readonly total: number; readonly name: string }>('totals_model', { kind: 'totals' });

describe('a read model', () => {
  test('has the writes of its kind, and no others', () => {
    expectTypeOf(Rows).toEqualTypeOf<RowsModel<Row>>();
    expectTypeOf(Moving).toEqualTypeOf<RowsModel<Row>>();
    expectTypeOf(Joined).toEqualTypeOf<JoinedModel<Row>>();
    expectTypeOf(Totals).toEqualTypeOf<TotalsModel<{ readonly total: number; readonly name: string }>>();
    expectTypeOf<keyof typeof Rows>().toEqualTypeOf<'shape' | 'put' | 'remove'>();
    expectTypeOf<keyof typeof Moving>().toEqualTypeOf<'shape' | 'put' | 'remove'>();
    expectTypeOf<keyof typeof Joined>().toEqualTypeOf<'shape' | 'part' | 'remove'>();
    expectTypeOf<keyof typeof Totals>().toEqualTypeOf<'shape' | 'contribute' | 'add'>();
  });

  test('takes whole rows, parts of rows, or amounts of numeric fields', () => {
    expectTypeOf<(typeof Rows)['put']>().parameter(1).toEqualTypeOf<Row>();
    expectTypeOf<(typeof Joined)['part']>().parameter(1).toEqualTypeOf<Partial<Row>>();
    expectTypeOf<(typeof Totals)['contribute']>().parameter(1).toEqualTypeOf<{ readonly total?: number }>();
    expectTypeOf<(typeof Rows)['put']>().returns.toEqualTypeOf<Write>();
  });

  test('refuses writes of other kinds, rows of another shape and unknown options', () => {
    const refused = (): unknown => [
      // @ts-expect-error -- rows are put, not summed up
      Rows.contribute('id', { total: 1 }),
      // @ts-expect-error -- rows have no parts
      Rows.part('id', { total: 1 }),
      // @ts-expect-error -- a joined row is not put whole
      Joined.put('id', { status: 'open', total: 1 }),
      // @ts-expect-error -- sums have no rows to remove
      Totals.remove('id'),
      // @ts-expect-error -- a row lacks a field
      Rows.put('id', { status: 'open' }),
      // @ts-expect-error -- a row has a field too many
      Rows.put('id', { status: 'open', total: 1, colour: 'red' }),
      // @ts-expect-error -- only numbers are summed up
      Totals.add('id', { name: 'ann' }),
      // @ts-expect-error -- an id is text
      Rows.remove(7),
      // @ts-expect-error -- a join has a primary aggregate
      readModel<Row>('joined_model', { kind: 'joined' }),
      // @ts-expect-error -- sums do not move
      readModel<Row>('totals_model', { kind: 'totals', moves: true }),
    ];
    expectTypeOf(refused).toBeFunction();
  });
});

describe('a handler', () => {
  test('of whole commits gets all events and the state', () => {
    Order.onState((event) => {
      expectTypeOf(event.state).toEqualTypeOf<State>();
      expectTypeOf(event.version).toEqualTypeOf<number>();
      expectTypeOf(event.scope.ownerId).toEqualTypeOf<string>();
      for (const one of event.events) {
        expectTypeOf(one.name).toEqualTypeOf<'opened' | 'changed'>();
        if (one.name === 'changed') expectTypeOf(one.body).toEqualTypeOf<Events['changed']>();
      }
    });
  });

  test('of one name gets its body', () => {
    Order.on('opened', (event) => {
      expectTypeOf(event.name).toEqualTypeOf<'opened'>();
      expectTypeOf(event.body).toEqualTypeOf<Events['opened']>();
      expectTypeOf(event.eventIndex).toEqualTypeOf<number>();
      expectTypeOf(event.state).toEqualTypeOf<State>();
    });
  });

  test('of several names tells their bodies apart by the name', () => {
    Order.on(['opened', 'changed'], (event) => {
      if (event.name === 'opened') expectTypeOf(event.body).toEqualTypeOf<Events['opened']>();
      else expectTypeOf(event.body).toEqualTypeOf<Events['changed']>();
    });
  });

  test('of an event topic gets no state', () => {
    OrderEvents.on('changed', (event) => {
      expectTypeOf(event.body).toEqualTypeOf<Events['changed']>();
      expectTypeOf(event).not.toHaveProperty('state');
    });
    expectTypeOf(OrderEvents).not.toHaveProperty('onState');
  });

  test('names only events that the aggregate has', () => {
    const refused = (): unknown => [
      // @ts-expect-error -- no such event
      Order.on('closed', () => undefined),
      // @ts-expect-error -- one of them is no event
      Order.on(['opened', 'closed'], () => undefined),
    ];
    expectTypeOf(refused).toBeFunction();
  });
});

describe('into', () => {
  test('takes handlers that return one write, several, or nothing', () => {
    into(
      [Rows, Totals],
      Order.on('opened', ({ ref }) => Rows.remove(ref.id)),
      Order.on('changed', ({ ref }) => [Rows.remove(ref.id), Totals.add(ref.tenantId, { total: 1 })]),
    );
    into(
      Rows,
      Order.onState(({ ref, state }) => (state.status === 'open' ? undefined : Rows.remove(ref.id))),
    );
    into(
      Rows,
      Order.onState(() => {}),
    );
    expectTypeOf(into).toBeFunction();
  });

  test('refuses handlers that return a promise or something else', () => {
    const refused = (): unknown => [
      into(
        Rows,
        // @ts-expect-error -- a handler that writes elsewhere is no projection
        Order.onState(async ({ ref }) => Rows.remove(ref.id)),
      ),
      into(
        Rows,
        // @ts-expect-error -- a promise, although of nothing
        Order.on('opened', async () => {}),
      ),
      into(
        Rows,
        // @ts-expect-error -- a row is no write
        Order.onState(({ state }) => ({ status: state.status, total: state.total })),
      ),
      into(
        // @ts-expect-error -- a name is no read model
        'row_model',
        Order.onState(() => undefined),
      ),
    ];
    expectTypeOf(refused).toBeFunction();
  });
});

describe('a commit for a test', () => {
  test('has the events and the state of its aggregate', () => {
    const record = commit(Order, {
      id: '1',
      events: [{ name: 'changed', body: { from: 1, to: 2 } }],
      state: { status: 'open', total: 2 },
    });
    expectTypeOf(record).toEqualTypeOf<CommitRecord>();
    commit(OrderEvents, { id: '1', events: [{ name: 'opened', body: { by: 'ann' } }] });
  });

  test('refuses events, bodies and states of another shape', () => {
    const state = { status: 'open', total: 2 } as const;
    const refused = (): unknown => [
      // @ts-expect-error -- the body of another event
      commit(Order, { id: '1', events: [{ name: 'opened', body: { from: 1, to: 2 } }], state }),
      // @ts-expect-error -- no event at all
      commit(Order, { id: '1', events: [], state }),
      // @ts-expect-error -- the state is missing
      commit(Order, { id: '1', events: [{ name: 'opened', body: { by: 'ann' } }] }),
      // @ts-expect-error -- the state is another one
      commit(Order, { id: '1', events: [{ name: 'opened', body: { by: 'ann' } }], state: { status: 'gone' } }),
    ];
    expectTypeOf(refused).toBeFunction();
  });
});
