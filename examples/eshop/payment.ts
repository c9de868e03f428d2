import { aggregate } from 'tidemark';

export type PaymentMethod = 'card' | 'invoice' | 'transfer';

/** The payment of an order; it has the id of its order. */
export type PaymentState = {
  readonly id: string;
  readonly status: 'started' | 'settled' | 'failed';
  readonly method: PaymentMethod;
  readonly amount: number;
};

export type PaymentEvents = {
  payment_started: { readonly orderId: string; readonly method: PaymentMethod; readonly amount: number };
  payment_settled: { readonly reference: string };
  payment_failed: { readonly reason: string };
};

export const Payment = aggregate<PaymentState, PaymentEvents>('eshop.payment', {
  events: ['payment_started', 'payment_settled', 'payment_failed'],
});
