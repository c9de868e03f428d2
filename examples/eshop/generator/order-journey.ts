import type { CommitRecord } from 'tidemark';
import type { PaymentEvents, PaymentState } from '../payment.ts';
import { anotherLine } from './catalogue.ts';
import { changeOrder, newOrder, type OrderEvent, type OrderStream, placeOrder } from './order-stream.ts';
import type { SeededRandom } from './random.ts';
import { type CommitWriter, type EventIn, newStream, type Stream } from './stream.ts';

type PaymentEvent = EventIn<PaymentEvents>;

export type JourneyOptions = {
  readonly tenantId: string;
  readonly orderId: string;
  readonly buyerId: string;
  readonly random: SeededRandom;
  readonly writer: CommitWriter;
  /** Some buyer of the same tenant. */
  readonly someBuyer: () => string;
};

/**
 * What happens to one order and its payment, from checkout until nothing more happens to it. Orders are changed, paid,
 * shipped, cancelled, given to another buyer, deleted and recovered; a payment may come before its order.
 */
export class OrderJourney {
  readonly #order: OrderStream;
  readonly #payment: Stream<PaymentState>;
  readonly #options: JourneyOptions;

  constructor(options: JourneyOptions) {
    const { tenantId, orderId, buyerId, random } = options;
    this.#options = options;
    this.#order = newOrder({ tenantId, id: orderId, buyerId, random });
    this.#payment = newStream<PaymentState>({
      aggregateName: 'payment',
      tenantId,
      id: orderId,
      ownerId: buyerId,
      state: {
        id: orderId,
        status: 'started',
        method: random.pick(['card', 'invoice', 'transfer']),
        amount: this.#order.state.totalAmount,
      },
    });
  }

  /** The next commit of the order or of its payment; `undefined` once nothing more happens. */
  next(): CommitRecord | undefined {
    const { random, writer } = this.#options;
    if (this.#order.version === 0) {
      const isPaymentFirst = this.#payment.version === 0 && random.chance(0.2);
      return isPaymentFirst ? this.#startPayment() : placeOrder(this.#order, writer);
    }
    if (this.#order.deleted) return this.#recoverOrEnd();
    switch (this.#order.state.status) {
      case 'placed':
        return this.#nextOfPlaced();
      case 'paid':
        return this.#nextOfPaid();
      case 'shipped':
        return random.chance(0.1) ? this.#delete('archived') : undefined;
      case 'cancelled':
        return random.chance(0.4) ? this.#delete('cancelled by mistake') : undefined;
    }
  }

  #nextOfPlaced(): CommitRecord {
    const { random } = this.#options;
    const roll = random.next();
    if (roll < 0.05) return this.#change([{ name: 'order_cancelled', body: { reason: 'changed my mind' } }]);
    if (roll < 0.08) return this.#delete('entered twice');
    const reassigned = roll < 0.18 ? this.#reassign() : undefined;
    if (reassigned !== undefined) return reassigned;
    // What is being paid for does not change any more.
    if (this.#payment.version > 0 || roll > 0.6) return this.#pay();
    const changes = [this.#lineChange()];
    if (random.chance(0.3)) changes.push(this.#quantityChange());
    return this.#change(changes);
  }

  #nextOfPaid(): CommitRecord {
    const roll = this.#options.random.next();
    if (roll < 0.06) return this.#change([{ name: 'order_cancelled', body: { reason: 'out of stock' } }]);
    const reassigned = roll < 0.2 ? this.#reassign() : undefined;
    return reassigned ?? this.#change([this.#shipment()]);
  }

  #recoverOrEnd(): CommitRecord | undefined {
    if (!this.#options.random.chance(0.5)) return undefined;
    return this.#change([{ name: 'order_recovered', body: { reason: 'still needed' } }]);
  }

  #pay(): CommitRecord {
    const { random } = this.#options;
    if (this.#payment.version === 0) return this.#startPayment();
    switch (this.#payment.state.status) {
      case 'started':
        return random.chance(0.85)
          ? this.#payWith({ name: 'payment_settled', body: { reference: `ref-${random.hex(10)}` } }, 'settled')
          : this.#payWith({ name: 'payment_failed', body: { reason: 'declined by the bank' } }, 'failed');
      case 'failed':
        return this.#startPayment();
      case 'settled': {
        const { id, amount } = this.#payment.state;
        const paid: OrderEvent = { name: 'order_paid', body: { paymentId: id, amount } };
        // What is in stock leaves at once.
        return this.#change(random.chance(0.15) ? [paid, this.#shipment()] : [paid]);
      }
    }
  }

  #startPayment(): CommitRecord {
    const { id, totalAmount: amount } = this.#order.state;
    const { method } = this.#payment.state;
    this.#payment.state = { ...this.#payment.state, amount };
    return this.#payWith({ name: 'payment_started', body: { orderId: id, method, amount } }, 'started');
  }

  #payWith(event: PaymentEvent, status: PaymentState['status']): CommitRecord {
    this.#payment.state = { ...this.#payment.state, status };
    return this.#options.writer.commit(this.#payment, [event]);
  }

  #delete(reason: string): CommitRecord {
    return this.#change([{ name: 'order_deleted', body: { reason } }]);
  }

  /** `undefined` if the buyer it would go to has it already. */
  #reassign(): CommitRecord | undefined {
    const { random, someBuyer } = this.#options;
    const fromBuyerId = this.#order.ownerId;
    const toBuyerId = someBuyer();
    if (toBuyerId === fromBuyerId) return undefined;
    const handedOver: OrderEvent = { name: 'order_reassigned', body: { fromBuyerId, toBuyerId } };
    const isChangedToo = this.#payment.version === 0 && random.chance(0.3);
    return this.#change(isChangedToo ? [handedOver, this.#quantityChange()] : [handedOver]);
  }

  #lineChange(): OrderEvent {
    const { random } = this.#options;
    const { lines } = this.#order.state;
    const roll = random.next();
    const added = roll < 0.3 ? anotherLine(lines, random) : undefined;
    if (added !== undefined) return { name: 'order_line_added', body: { line: added } };
    const last = lines.at(-1);
    if (roll > 0.8 && lines.length > 1 && last !== undefined) {
      return { name: 'order_line_removed', body: { productId: last.productId } };
    }
    return this.#quantityChange();
  }

  #quantityChange(): OrderEvent {
    return quantityChange(this.#order, this.#options.random);
  }

  #shipment(): OrderEvent {
    const { random } = this.#options;
    const carrier = random.pick(['Parcelwing', 'Slowboat', 'Nordpost']);
    return { name: 'order_shipped', body: { carrier, trackingNumber: `${carrier.slice(0, 2)}${random.hex(8)}` } };
  }

  #change(events: readonly OrderEvent[]): CommitRecord {
    return changeOrder(this.#order, events, this.#options.writer);
  }
}

/** Another quantity for the order's first line, which is always there. */
export function quantityChange({ state }: OrderStream, random: SeededRandom): OrderEvent {
  const { productId, quantity } = state.lines[0] ?? { productId: '', quantity: 0 };
  return {
    name: 'order_line_quantity_changed',
    body: { productId, from: quantity, to: (quantity % 9) + random.integer(1, 3) },
  };
}
