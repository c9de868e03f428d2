import type { Address, OrderLine } from '../order.ts';
import type { SeededRandom } from './random.ts';

type Product = Omit<OrderLine, 'quantity'>;

const products: readonly [Product, ...Product[]] = [
  { productId: 'p-101', name: 'Trail Running Shoe', brandId: 'brand-01', unitPrice: 89.95 },
  { productId: 'p-102', name: 'Rain Jacket "Fjäll"', brandId: 'brand-02', unitPrice: 149.5 },
  { productId: 'p-103', name: 'Merino Socks, 2 pairs', brandId: 'brand-02', unitPrice: 24.9 },
  { productId: 'p-104', name: 'Water Bottle 0.75 l', brandId: 'brand-03', unitPrice: 17.25 },
  { productId: 'p-105', name: 'Camping Stove', brandId: 'brand-03', unitPrice: 64.99 },
  { productId: 'p-106', name: 'Head Lamp', brandId: 'brand-04', unitPrice: 39.49 },
  { productId: 'p-107', name: '折叠椅', brandId: 'brand-05', unitPrice: 45.1 },
  { productId: 'p-108', name: 'Café Press', brandId: 'brand-05', unitPrice: 32.05 },
  { productId: 'p-109', name: 'Tent for Two', brandId: 'brand-01', unitPrice: 329 },
  { productId: 'p-110', name: 'Energy Bar', brandId: 'brand-06', unitPrice: 1.89 },
];

const addresses: readonly [Address, ...Address[]] = [
  { street: 'Lindenallee 12', city: 'Köln', postalCode: '50667', country: 'DE' },
  { street: '4 Rue des Écoles', city: 'Lyon', postalCode: '69002', country: 'FR' },
  { street: '27 Harbour Street', city: 'Galway', postalCode: 'H91 X0P1', country: 'IE' },
  { street: '中山东路 8 号', city: '南京', postalCode: '210002', country: 'CN' },
  { street: '310 Mill Road', city: 'Portland', postalCode: '97205', country: 'US' },
];

const givenNames = ['Zoë', 'Liam', 'Amélie', '娜', 'Oskar', 'Ines', 'Ravi', 'Saoirse'] as const;
const familyNames = ["O'Brien", 'Müller', 'Lefèvre', '李', 'Novák', 'Silva', 'Patel', 'Larsen'] as const;
const brandWords = ['North', 'Alpine', 'River', 'Summit', 'Cedar', 'Harbour', 'Juniper', 'Granite'] as const;
const brandEndings = ['Works', 'Supply', 'Outfitters', '& Sons', 'Goods', 'Lab'] as const;

/** One to four lines of different products. */
export function someLines(random: SeededRandom): readonly OrderLine[] {
  const first = random.integer(0, products.length - 1);
  return Array.from({ length: random.integer(1, 4) }, (_, place) => ({
    ...(products[(first + place * 3) % products.length] ?? products[0]),
    quantity: random.integer(1, 5),
  }));
}

/** A line of a product that none of `lines` is of; `undefined` if all are there. */
export function anotherLine(lines: readonly OrderLine[], random: SeededRandom): OrderLine | undefined {
  const product = random.pick(products);
  if (lines.some(({ productId }) => productId === product.productId)) return undefined;
  return { ...product, quantity: random.integer(1, 3) };
}

export function someAddress(random: SeededRandom): Address {
  return random.pick(addresses);
}

export function somePersonName(random: SeededRandom): string {
  return `${random.pick(givenNames)} ${random.pick(familyNames)}`;
}

export function someBrandName(random: SeededRandom): string {
  return `${random.pick(brandWords)} ${random.pick(brandEndings)}`;
}
