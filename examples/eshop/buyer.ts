import { aggregate } from 'tidemark';

export type BuyerState = { readonly id: string; readonly name: string; readonly email: string };

export type BuyerEvents = {
  buyer_registered: { readonly name: string; readonly email: string };
  buyer_renamed: { readonly from: string; readonly to: string };
};

export const Buyer = aggregate<BuyerState, BuyerEvents>('eshop.buyer', {
  events: ['buyer_registered', 'buyer_renamed'],
});
