import { into, projection, readModel } from 'tidemark';
import { Order } from './order.ts';

export type BuyerTotal = { readonly orders: number; readonly units: number; readonly amount: number };

export const BuyerTotals = readModel<BuyerTotal>('buyer_totals', { kind: 'totals' });

/**
 * What each buyer ordered in all. A handler says what its order adds **now**; the difference to what it added before is
 * worked out from there, also when the order goes to another buyer. A cancelled or deleted order adds nothing.
 */
export const buyerTotalsProjection = projection('BuyerTotalsProjection', {
  onEvent: into(
    BuyerTotals,
    Order.onState(({ ref, state, scope }) => {
      if (state.status === 'cancelled' || scope.deleted) return [];
      return BuyerTotals.contribute([ref.tenantId, scope.ownerId], {
        orders: 1,
        units: state.units,
        amount: state.totalAmount,
      });
    }),
  ),
});
