import { aggregate } from 'tidemark';

export type BrandState = { readonly id: string; readonly name: string };

export type BrandEvents = {
  brand_named: { readonly name: string };
  brand_renamed: { readonly from: string; readonly to: string };
};

export const Brand = aggregate<BrandState, BrandEvents>('eshop.brand', { events: ['brand_named', 'brand_renamed'] });
