import { into, projection, readModel } from 'tidemark';
import { Order, type OrderStatus } from './order.ts';

export type OrderSummary = {
  readonly tenantId: string;
  readonly orderId: string;
  readonly buyerId: string;
  readonly status: OrderStatus;
  readonly totalAmount: number;
  readonly units: number;
  readonly updatedAt: number;
};

export const OrderSummaries = readModel<OrderSummary>('order_summary', {
  indexes: [{ tenantId: 1, buyerId: 1, updatedAt: -1 }],
});

/** A row per order, of the order's newest version; a deleted order has none until it is recovered. */
export const orderSummaryProjection = projection('OrderSummaryProjection', {
  onEvent: into(
    OrderSummaries,
    Order.onState(({ ref, state, scope, commitTime }) => {
      const id = [ref.tenantId, ref.id];
      if (scope.deleted) return OrderSummaries.remove(id);
      return OrderSummaries.put(id, {
        tenantId: ref.tenantId,
        orderId: ref.id,
        buyerId: scope.ownerId,
        status: state.status,
        totalAmount: state.totalAmount,
        units: state.units,
        updatedAt: commitTime,
      });
    }),
  ),
});
