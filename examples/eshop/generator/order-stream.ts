import type { CommitRecord } from 'tidemark';
import type { OrderEvents, OrderLine, OrderState } from '../order.ts';
import { someAddress, someLines } from './catalogue.ts';
import type { SeededRandom } from './random.ts';
import { type CommitWriter, type EventIn, newStream, type Stream } from './stream.ts';

export type OrderEvent = EventIn<OrderEvents>;
export type OrderStream = Stream<OrderState>;

type NewOrder = {
  readonly tenantId: string;
  readonly id: string;
  readonly buyerId: string;
  readonly random: SeededRandom;
};

/** An order before it is placed. What it will hold is decided, so that its payment may come first. */
export function newOrder({ tenantId, id, buyerId, random }: NewOrder): OrderStream {
  const stream = newStream<OrderState>({
    aggregateName: 'order',
    tenantId,
    id,
    ownerId: buyerId,
    state: withLines(
      { id, status: 'placed', placedAt: 0, lines: [], units: 0, totalAmount: 0, shippingAddress: someAddress(random) },
      someLines(random),
    ),
  });
  stream.tags = { channel: [random.chance(0.7) ? 'web' : 'app'] };
  return stream;
}

export function placeOrder(order: OrderStream, writer: CommitWriter): CommitRecord {
  const { lines, shippingAddress } = order.state;
  order.state = { ...order.state, placedAt: writer.nowMs };
  return writer.commit(order, [{ name: 'order_placed', body: { buyerId: order.ownerId, lines, shippingAddress } }]);
}

/** One commit of `events`, each applied to the order in turn. */
export function changeOrder(order: OrderStream, events: readonly OrderEvent[], writer: CommitWriter): CommitRecord {
  for (const event of events) apply(order, event);
  return writer.commit(order, events);
}

function apply(order: OrderStream, event: OrderEvent): void {
  const { state } = order;
  switch (event.name) {
    case 'order_placed':
      break;
    case 'order_line_added':
      order.state = withLines(state, [...state.lines, event.body.line]);
      break;
    case 'order_line_quantity_changed':
      order.state = withLines(
        state,
        state.lines.map((line) =>
          line.productId === event.body.productId ? { ...line, quantity: event.body.to } : line,
        ),
      );
      break;
    case 'order_line_removed':
      order.state = withLines(
        state,
        state.lines.filter(({ productId }) => productId !== event.body.productId),
      );
      break;
    case 'order_paid':
      order.state = { ...state, status: 'paid' };
      break;
    case 'order_shipped':
      order.state = { ...state, status: 'shipped', trackingNumber: event.body.trackingNumber };
      break;
    case 'order_cancelled':
      order.state = { ...state, status: 'cancelled' };
      break;
    case 'order_reassigned':
      order.ownerId = event.body.toBuyerId;
      break;
    case 'order_deleted':
      order.deleted = true;
      break;
    case 'order_recovered':
      order.deleted = false;
      break;
  }
}

/** The state with these lines and their sums; money is added up in cents. */
function withLines(state: OrderState, lines: readonly OrderLine[]): OrderState {
  let units = 0;
  let cents = 0;
  for (const { unitPrice, quantity } of lines) {
    units += quantity;
    cents += Math.round(unitPrice * 100) * quantity;
  }
  return { ...state, lines, units, totalAmount: cents / 100 };
}
