import { into, projection, readModel } from 'tidemark';
import { Order, type OrderStatus } from './order.ts';
import { Payment, type PaymentMethod, type PaymentState } from './payment.ts';

export type OrderPayment = {
  readonly tenantId: string;
  readonly orderId: string;
  readonly buyerId: string;
  readonly orderStatus: OrderStatus;
  readonly totalAmount: number;
  /** The rest is there as soon as the payment is; it may be started before its order is placed. */
  readonly paymentStatus?: PaymentState['status'];
  readonly method?: PaymentMethod;
  readonly paymentAmount?: number;
};

export const OrderPayments = readModel<OrderPayment>('order_payment', {
  kind: 'joined',
  primary: Order,
  indexes: [{ tenantId: 1, paymentStatus: 1 }],
});

/** An order with its payment. Each aggregate sets its own part; a row is seen while the order's part is there. */
export const orderPaymentProjection = projection('OrderPaymentProjection', {
  onEvent: into(
    OrderPayments,
    Order.onState(({ ref, state, scope }) => {
      const id = [ref.tenantId, ref.id];
      if (scope.deleted) return OrderPayments.remove(id);
      return OrderPayments.part(id, {
        tenantId: ref.tenantId,
        orderId: ref.id,
        buyerId: scope.ownerId,
        orderStatus: state.status,
        totalAmount: state.totalAmount,
      });
    }),
    Payment.onState(({ ref, state }) =>
      OrderPayments.part([ref.tenantId, ref.id], {
        paymentStatus: state.status,
        method: state.method,
        paymentAmount: state.amount,
      }),
    ),
  ),
});
