import { aggregate } from 'tidemark';

export type OrderLine = {
  readonly productId: string;
  readonly name: string;
  readonly brandId: string;
  readonly unitPrice: number;
  readonly quantity: number;
};

export type Address = {
  readonly street: string;
  readonly city: string;
  readonly postalCode: string;
  readonly country: string;
};

export type OrderStatus = 'placed' | 'paid' | 'shipped' | 'cancelled';

/** An order as it stands after a commit. Its buyer is the owner of the aggregate: `scope.ownerId`. */
export type OrderState = {
  readonly id: string;
  readonly status: OrderStatus;
  readonly placedAt: number;
  readonly lines: readonly OrderLine[];
  /** Sum of the lines' quantities. */
  readonly units: number;
  /** Sum of the lines' prices, with two decimals. */
  readonly totalAmount: number;
  readonly shippingAddress: Address;
  readonly trackingNumber?: string;
};

export type OrderEvents = {
  order_placed: { readonly buyerId: string; readonly lines: readonly OrderLine[]; readonly shippingAddress: Address };
  order_line_added: { readonly line: OrderLine };
  order_line_quantity_changed: { readonly productId: string; readonly from: number; readonly to: number };
  order_line_removed: { readonly productId: string };
  order_paid: { readonly paymentId: string; readonly amount: number };
  order_shipped: { readonly carrier: string; readonly trackingNumber: string };
  order_cancelled: { readonly reason: string };
  order_reassigned: { readonly fromBuyerId: string; readonly toBuyerId: string };
  order_deleted: { readonly reason: string };
  order_recovered: { readonly reason: string };
};

export const Order = aggregate<OrderState, OrderEvents>('eshop.order', {
  events: [
    'order_placed',
    'order_line_added',
    'order_line_quantity_changed',
    'order_line_removed',
    'order_paid',
    'order_shipped',
    'order_cancelled',
    'order_reassigned',
    'order_deleted',
    'order_recovered',
  ],
});
