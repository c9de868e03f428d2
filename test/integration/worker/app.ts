import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { env, pid } from 'node:process';
import { into, projection, readModel, worker } from 'tidemark';
import { buyerTotalsProjection } from '../../../examples/eshop/buyer-totals.ts';
import { openOrderByBuyerProjection } from '../../../examples/eshop/open-order-by-buyer.ts';
import { Order } from '../../../examples/eshop/order.ts';
import { orderPaymentProjection } from '../../../examples/eshop/order-payment.ts';
import { orderSummaryProjection } from '../../../examples/eshop/order-summary.ts';

/** The shop, and one more projection whose handler writes down when it was called for what. */

const trace = openSync(join(env['TRACE_FOLDER'] ?? '.', `${pid}.trace`), 'a');
const Handled = readModel<{ version: number }>('handled');

const traceProjection = projection('TraceProjection', {
  onEvent: into(
    Handled,
    Order.onState(({ ref, version }) => {
      writeSync(trace, `${performance.timeOrigin + performance.now()} ${ref.tenantId}/${ref.id} ${version}\n`);
      return Handled.put([ref.tenantId, ref.id], { version });
    }),
  ),
});

export default worker({
  context: 'eshop',
  subscriptions: [
    orderSummaryProjection,
    buyerTotalsProjection,
    orderPaymentProjection,
    openOrderByBuyerProjection,
    traceProjection,
  ],
});
