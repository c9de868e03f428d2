import { commit, projectionSpec } from 'tidemark/testing';
import { describe, test } from 'vitest';
import { BuyerTotals, buyerTotalsProjection } from '../../../../examples/eshop/buyer-totals.ts';
import { OpenOrdersByBuyer, openOrderByBuyerProjection } from '../../../../examples/eshop/open-order-by-buyer.ts';
import { Order, type OrderState } from '../../../../examples/eshop/order.ts';
import { OrderPayments, orderPaymentProjection } from '../../../../examples/eshop/order-payment.ts';
import { OrderSummaries, orderSummaryProjection } from '../../../../examples/eshop/order-summary.ts';
import { Payment } from '../../../../examples/eshop/payment.ts';

const address = { street: 'Lindenallee 12', city: 'Köln', postalCode: '50667', country: 'DE' };
const line = { productId: 'p-1', name: 'Head Lamp', brandId: 'brand-04', unitPrice: 39.5, quantity: 2 };
const state: OrderState = {
  id: 'order-1',
  status: 'placed',
  placedAt: 1_770_000_000_000,
  lines: [line],
  units: 2,
  totalAmount: 79,
  shippingAddress: address,
};
const shared = { tenantId: 'acme', id: 'order-1', state } as const;

const placed = commit(Order, {
  ...shared,
  ownerId: 'ann',
  commitTime: 1_770_000_000_000,
  events: [{ name: 'order_placed', body: { buyerId: 'ann', lines: [line], shippingAddress: address } }],
});
const givenToBen = commit(Order, {
  ...shared,
  ownerId: 'ben',
  version: 2,
  commitTime: 1_770_000_060_000,
  events: [{ name: 'order_reassigned', body: { fromBuyerId: 'ann', toBuyerId: 'ben' } }],
});
const deleted = commit(Order, {
  ...shared,
  ownerId: 'ben',
  version: 3,
  deleted: true,
  events: [{ name: 'order_deleted', body: { reason: 'entered twice' } }],
});
const recovered = commit(Order, {
  ...shared,
  ownerId: 'ben',
  version: 4,
  commitTime: 1_770_000_120_000,
  events: [{ name: 'order_recovered', body: { reason: 'still needed' } }],
});
const paymentStarted = commit(Payment, {
  tenantId: 'acme',
  id: 'order-1',
  events: [{ name: 'payment_started', body: { orderId: 'order-1', method: 'card', amount: 79 } }],
  state: { id: 'order-1', status: 'started', method: 'card', amount: 79 },
});

const anyDelivery = { twice: true, late: true, shuffled: true };

describe('an order that is given to another buyer', () => {
  test('is that buyer’s in the summary', async () => {
    const spec = projectionSpec(orderSummaryProjection, anyDelivery).whenCommit(placed, givenToBen);
    await spec.expectNoError();
    await spec.expectRows(OrderSummaries, [
      {
        tenantId: 'acme',
        orderId: 'order-1',
        buyerId: 'ben',
        status: 'placed',
        totalAmount: 79,
        units: 2,
        updatedAt: 1_770_000_060_000,
      },
    ]);
  });

  test('adds to that buyer’s totals, and no longer to the first one’s', async () => {
    const spec = projectionSpec(buyerTotalsProjection, anyDelivery).whenCommit(placed, givenToBen);
    await spec.expectNoError();
    await spec.expectRows(BuyerTotals, new Map([[['acme', 'ben'], { orders: 1, units: 2, amount: 79 }]]));
  });

  test('moves to that buyer’s open orders', async () => {
    const spec = projectionSpec(openOrderByBuyerProjection, anyDelivery).whenCommit(placed, givenToBen);
    const row = { tenantId: 'acme', orderId: 'order-1', status: 'placed', totalAmount: 79, placedAt: state.placedAt };
    await spec.expectNoError();
    await spec.expectRows(OpenOrdersByBuyer, new Map([[['acme', 'ben', 'order-1'], { ...row, buyerId: 'ben' }]]));
  });
});

describe('an order that is deleted', () => {
  test.each([
    ['the summary', orderSummaryProjection, OrderSummaries],
    ['the totals', buyerTotalsProjection, BuyerTotals],
    ['the payments', orderPaymentProjection, OrderPayments],
    ['the open orders', openOrderByBuyerProjection, OpenOrdersByBuyer],
  ] as const)('is gone from %s until it is recovered', async (_where, projection, model) => {
    const gone = projectionSpec(projection, anyDelivery).whenCommit(placed, givenToBen, deleted);
    await gone.expectNoError();
    await gone.expectRows(model, []);
    const back = projectionSpec(projection, anyDelivery).whenCommit(placed, givenToBen, deleted, recovered);
    const never = projectionSpec(projection).whenCommit(recovered);
    await back.expectNoError();
    await back.expectRows(
      model,
      (await never.rows(model)).map(({ row }) => row),
    );
  });
});

describe('an order and its payment', () => {
  const row = { tenantId: 'acme', orderId: 'order-1', buyerId: 'ann', orderStatus: 'placed', totalAmount: 79 };
  const payment = { paymentStatus: 'started', method: 'card', paymentAmount: 79 };

  test.each([
    ['the order', [placed, paymentStarted]],
    ['the payment', [paymentStarted, placed]],
  ])('are one row when %s comes first', async (_which, commits) => {
    const spec = projectionSpec(orderPaymentProjection).whenCommit(...commits);
    await spec.expectNoError();
    await spec.expectRows(OrderPayments, [{ ...row, ...payment }]);
  });

  test('are no row before there is an order', async () => {
    const spec = projectionSpec(orderPaymentProjection);
    spec.whenCommit(paymentStarted);
    await spec.expectRows(OrderPayments, []);
    spec.whenCommit(placed);
    await spec.expectRows(OrderPayments, [{ ...row, ...payment }]);
  });
});
