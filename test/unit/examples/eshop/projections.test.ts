import { projectionSpec } from 'tidemark/testing';
import { describe, expect, test } from 'vitest';
import { BuyerTotals, buyerTotalsProjection } from '../../../../examples/eshop/buyer-totals.ts';
import { eshopCommits } from '../../../../examples/eshop/generator/eshop-commits.ts';
import { OpenOrdersByBuyer, openOrderByBuyerProjection } from '../../../../examples/eshop/open-order-by-buyer.ts';
import { OrderPayments, orderPaymentProjection } from '../../../../examples/eshop/order-payment.ts';
import { OrderSummaries, orderSummaryProjection } from '../../../../examples/eshop/order-summary.ts';
import { EshopModel } from '../../../support/eshop-model.ts';

const commits = [...eshopCommits({ commits: 400, ordersAtOnce: 12, seed: 11 })];
const expected = new EshopModel().takeAll(commits).rows();

const deliveries = [
  ['once', {}],
  ['twice', { twice: true }],
  ['late', { late: true }],
  ['shuffled across aggregates', { shuffled: true }],
  ['twice, late and shuffled', { twice: true, late: true, shuffled: true }],
] as const;

describe.each(deliveries)('commits delivered %s', (_how, delivery) => {
  test.each([
    ['order_summary', orderSummaryProjection, OrderSummaries],
    ['buyer_totals', buyerTotalsProjection, BuyerTotals],
    ['order_payment', orderPaymentProjection, OrderPayments],
    ['open_order_by_buyer', openOrderByBuyerProjection, OpenOrdersByBuyer],
  ] as const)('give the rows of %s that the newest versions say', async (name, projection, model) => {
    const spec = projectionSpec(projection, { ...delivery, seed: 5 }).whenCommit(...commits);
    await spec.expectNoError();
    await spec.expectRows(model, expected[name]);
    expect(expected[name].size).toBeGreaterThan(5);
  });
});
