import { into, projection, readModel } from 'tidemark';
import { Order, type OrderStatus } from './order.ts';

export type OpenOrder = {
  readonly tenantId: string;
  readonly buyerId: string;
  readonly orderId: string;
  readonly status: OrderStatus;
  readonly totalAmount: number;
  readonly placedAt: number;
};

export const OpenOrdersByBuyer = readModel<OpenOrder>('open_order_by_buyer', {
  moves: true,
  indexes: [{ tenantId: 1, buyerId: 1, placedAt: 1 }],
});

/**
 * The orders that a buyer waits for. The buyer is part of the row's id, so the row moves when the order is given to
 * another buyer, and it goes when the handler no longer returns it.
 */
export const openOrderByBuyerProjection = projection('OpenOrderByBuyerProjection', {
  onEvent: into(
    OpenOrdersByBuyer,
    Order.onState(({ ref, state, scope }) => {
      const isOpen = state.status === 'placed' || state.status === 'paid';
      if (!isOpen || scope.deleted) return [];
      return OpenOrdersByBuyer.put([ref.tenantId, scope.ownerId, ref.id], {
        tenantId: ref.tenantId,
        buyerId: scope.ownerId,
        orderId: ref.id,
        status: state.status,
        totalAmount: state.totalAmount,
        placedAt: state.placedAt,
      });
    }),
  ),
});
