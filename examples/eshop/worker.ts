import { worker } from 'tidemark';
import { buyerTotalsProjection } from './buyer-totals.ts';
import { openOrderByBuyerProjection } from './open-order-by-buyer.ts';
import { orderPaymentProjection } from './order-payment.ts';
import { orderSummaryProjection } from './order-summary.ts';

// oxlint-disable-next-line import/no-default-export -- it is what the command line loads of an app module
export default worker({
  context: 'eshop',
  subscriptions: [orderSummaryProjection, buyerTotalsProjection, orderPaymentProjection, openOrderByBuyerProjection],
});
