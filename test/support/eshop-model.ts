import { type CommitRecord, rowId } from 'tidemark';
import type { OrderState } from '../../examples/eshop/order.ts';
import type { PaymentState } from '../../examples/eshop/payment.ts';

type Row = Readonly<Record<string, unknown>>;

/** Read model → row id → row, as readers should see them. */
export type ExpectedRows = Readonly<Record<EshopReadModel, ReadonlyMap<string, Row>>>;
export type EshopReadModel = 'order_summary' | 'buyer_totals' | 'order_payment' | 'open_order_by_buyer';

type Order = {
  readonly tenantId: string;
  readonly orderId: string;
  readonly buyerId: string;
  readonly version: number;
  readonly deleted: boolean;
  readonly updatedAt: number;
} & Pick<OrderState, 'status' | 'totalAmount' | 'units' | 'placedAt'>;

type Payment = { readonly version: number } & Pick<PaymentState, 'status' | 'method' | 'amount'>;

/**
 * What the read models of examples/eshop must hold after given commits, whatever order and however often they come: it
 * keeps the newest version of each aggregate and derives the rows from that. Shares no code with the projections.
 */
export class EshopModel {
  readonly #orders = new Map<string, Order>();
  readonly #payments = new Map<string, Payment>();

  take(record: CommitRecord): void {
    const key = JSON.stringify([record.tenantId, record.aggregateId]);
    if (record.aggregateName === 'order') {
      if ((this.#orders.get(key)?.version ?? 0) < record.version) this.#orders.set(key, orderOf(record));
    } else if (record.aggregateName === 'payment') {
      const { status, method, amount } = record.state as PaymentState;
      if ((this.#payments.get(key)?.version ?? 0) < record.version) {
        this.#payments.set(key, { version: record.version, status, method, amount });
      }
    }
  }

  takeAll(records: Iterable<CommitRecord>): this {
    for (const record of records) this.take(record);
    return this;
  }

  rows(): ExpectedRows {
    const summaries = new Map<string, Row>();
    const payments = new Map<string, Row>();
    const open = new Map<string, Row>();
    const totals = new Map<string, { orders: number; units: number; cents: number }>();
    for (const [key, order] of this.#orders) {
      if (order.deleted) continue;
      const { tenantId, orderId, buyerId, status, totalAmount, units, placedAt, updatedAt } = order;
      const id = rowId([tenantId, orderId]);
      summaries.set(id, { tenantId, orderId, buyerId, status, totalAmount, units, updatedAt });
      const part = { tenantId, orderId, buyerId, orderStatus: status, totalAmount };
      payments.set(id, { ...part, ...paymentFields(this.#payments.get(key)) });
      if (status === 'cancelled') continue;
      if (status !== 'shipped') {
        const row = { tenantId, buyerId, orderId, status, totalAmount, placedAt };
        open.set(rowId([tenantId, buyerId, orderId]), row);
      }
      const buyer = rowId([tenantId, buyerId]);
      const total = totals.get(buyer) ?? { orders: 0, units: 0, cents: 0 };
      totals.set(buyer, {
        orders: total.orders + 1,
        units: total.units + units,
        cents: total.cents + Math.round(totalAmount * 100),
      });
    }
    return {
      order_summary: summaries,
      order_payment: payments,
      open_order_by_buyer: open,
      buyer_totals: new Map(
        [...totals].map(([id, { orders, units, cents }]) => [id, { orders, units, amount: cents / 100 }]),
      ),
    };
  }
}

function orderOf(record: CommitRecord): Order {
  const { status, totalAmount, units, placedAt } = record.state as OrderState;
  return {
    tenantId: record.tenantId ?? '(0)',
    orderId: record.aggregateId,
    buyerId: record.ownerId ?? '',
    version: record.version,
    deleted: record.deleted === true,
    updatedAt: record.createTime,
    status,
    totalAmount,
    units,
    placedAt,
  };
}

function paymentFields(payment: Payment | undefined): Row {
  if (payment === undefined) return {};
  return { paymentStatus: payment.status, method: payment.method, paymentAmount: payment.amount };
}
