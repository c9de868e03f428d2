/** An app as somebody would write it in a folder of their own, and commits for it. */

export const orderApp = `
import { aggregate, into, projection, readModel, worker } from 'tidemark';

type OrderState = { status: string; units: number };
type OrderEvents = { order_placed: { units: number }; order_shipped: object };
type OrderRow = { orderId: string; status: string; units: number };

const Order = aggregate<OrderState, OrderEvents>('shop.order');
const Orders = readModel<OrderRow>('orders');

const orderProjection = projection('OrderProjection', {
  onEvent: into(Orders, Order.onState(({ ref, state }) => {
    if (state.units < 0) throw new TypeError('units below zero');
    return Orders.put(ref.id, { orderId: ref.id, status: state.status, units: state.units });
  })),
});

export default worker({ context: 'shop', subscriptions: [orderProjection] });
`;

export type OrderCommit = {
  readonly id: string;
  readonly version: number;
  readonly status?: string;
  readonly units?: number;
};

/** A commit record as a line of a file. */
export function orderLine({ id, version, status = 'placed', units = 1 }: OrderCommit): string {
  return JSON.stringify({
    id: `${id}-${version}`,
    contextName: 'shop',
    aggregateName: 'order',
    aggregateId: id,
    version,
    createTime: 1_767_600_000_000 + version,
    body: [{ id: `${id}-${version}-0`, name: 'order_placed', bodyType: 'OrderPlaced', body: { units } }],
    state: { status, units },
  });
}

/** First versions of so many orders, a line each. */
export function orderLines(count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `${orderLine({ id: `O-${index}`, version: 1, units: index })}\n`,
  ).join('');
}
