import { aggregate } from '../../src/aggregates/aggregate.ts';
import { into, type ProjectionFunction, projection } from '../../src/projections/projection.ts';
import { readModel } from '../../src/read-models/read-model.ts';
import { type Worker, worker } from '../../src/subscriptions/worker.ts';

export type OrderState = {
  readonly status: 'open' | 'closed' | 'deleted';
  readonly buyer: string;
  readonly amount: number;
  /** Unique among open and closed orders. */
  readonly code: string;
  /** Held by one order at a time. */
  readonly slot: string;
  /** Functions whose handler throws for this commit. */
  readonly failsIn: readonly FunctionName[];
};
export type OrderEvents = {
  order_changed: { readonly note: string };
  order_shipped: { readonly by: string };
  order_paid: { readonly amount: number };
};
export type PaymentState = { readonly method: string; readonly failsIn: readonly FunctionName[] };
export type PaymentEvents = { payment_changed: object };

export const Order = aggregate<OrderState, OrderEvents>('shop.order');
export const Payment = aggregate<PaymentState, PaymentEvents>('shop.payment');

/** A function for each kind of read model, and for what is special in each. */
export const functionNames = [
  'onRows',
  'onShipped',
  'onCodes',
  'onBuyer',
  'onSlots',
  'onTotals',
  'onAdded',
  'onJoined',
] as const;
export type FunctionName = (typeof functionNames)[number];

/** The model that each function writes. */
export const modelOf: Readonly<Record<FunctionName, string>> = {
  onRows: 'order_rows',
  onShipped: 'shipments',
  onCodes: 'order_codes',
  onBuyer: 'open_orders',
  onSlots: 'slots',
  onTotals: 'buyer_totals',
  onAdded: 'buyer_payments',
  onJoined: 'order_payments',
};

const Rows = readModel<{ status: string; buyer: string; amount: number }>(modelOf.onRows);
const Shipments = readModel<{ by: string; version: number }>(modelOf.onShipped);
const Codes = readModel<{ code: string }>(modelOf.onCodes, { indexes: [{ fields: { code: 1 }, unique: true }] });
const OpenOrders = readModel<{ amount: number }>(modelOf.onBuyer, { moves: true });
const Slots = readModel<{ order: string }>(modelOf.onSlots, { moves: true });
const Totals = readModel<{ orders: number; amount: number }>(modelOf.onTotals, { kind: 'totals' });
const Payments = readModel<{ paid: number }>(modelOf.onAdded, { kind: 'totals' });
const Joined = readModel<{ status: string; method: string }>(modelOf.onJoined, { kind: 'joined', primary: Order });

/** Throws what commits of this state are to meet in a function; not always an error. */
function check(name: FunctionName, { failsIn }: { readonly failsIn: readonly FunctionName[] }): void {
  if (!failsIn.includes(name)) return;
  const thrown: unknown = name === 'onRows' ? undefined : new Error(`fails in ${name}`);
  throw thrown;
}

const functions: Readonly<Record<FunctionName, ProjectionFunction>> = {
  onRows: into(
    Rows,
    Order.onState(({ ref, state }) => {
      check('onRows', state);
      const { status, buyer, amount } = state;
      const id = [ref.tenantId, ref.id];
      return status === 'deleted' ? Rows.remove(id) : Rows.put(id, { status, buyer, amount });
    }),
  ),
  onShipped: into(
    Shipments,
    Order.on('order_shipped', ({ ref, version, state, body }) => {
      check('onShipped', state);
      return Shipments.put([ref.tenantId, ref.id], { by: body.by, version });
    }),
  ),
  onCodes: into(
    Codes,
    Order.onState(({ ref, state }) => {
      check('onCodes', state);
      const id = [ref.tenantId, ref.id];
      return state.status === 'deleted' ? Codes.remove(id) : Codes.put(id, { code: state.code });
    }),
  ),
  onBuyer: into(
    OpenOrders,
    Order.onState(({ ref, state }) => {
      check('onBuyer', state);
      if (state.status !== 'open') return [];
      return OpenOrders.put([ref.tenantId, state.buyer, ref.id], { amount: state.amount });
    }),
  ),
  onSlots: into(
    Slots,
    Order.onState(({ ref, state }) => {
      check('onSlots', state);
      return state.status === 'deleted' ? undefined : Slots.put(state.slot, { order: ref.id });
    }),
  ),
  onTotals: into(
    Totals,
    Order.onState(({ state }) => {
      check('onTotals', state);
      return state.status === 'deleted' ? [] : [Totals.contribute(state.buyer, { orders: 1, amount: state.amount })];
    }),
  ),
  onAdded: into(
    Payments,
    Order.on('order_paid', ({ state, body }) => {
      check('onAdded', state);
      return Payments.add(state.buyer, { paid: body.amount });
    }),
  ),
  onJoined: into(
    Joined,
    Order.onState(({ ref, state }) => {
      check('onJoined', state);
      const id = [ref.tenantId, ref.id];
      return state.status === 'deleted' ? Joined.remove(id) : Joined.part(id, { status: state.status });
    }),
    Payment.onState(({ ref, state }) => {
      check('onJoined', state);
      return Joined.part([ref.tenantId, ref.id], { method: state.method });
    }),
  ),
};

export function shopWorker(names: readonly FunctionName[]): Worker {
  const chosen = Object.fromEntries(names.map((name) => [name, functions[name]]));
  return worker({ context: 'shop', subscriptions: [projection('Shop', chosen)] });
}

export function scopeOf(name: FunctionName) {
  return { subscription: `Shop.${name}`, generation: 1 };
}

export function topicsOf(name: FunctionName): readonly string[] {
  return name === 'onJoined' ? [Order.topic, Payment.topic] : [Order.topic];
}
