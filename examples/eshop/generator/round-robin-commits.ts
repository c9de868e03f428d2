import type { CommitRecord } from 'tidemark';
import { quantityChange } from './order-journey.ts';
import { changeOrder, newOrder, type OrderEvent, type OrderStream, placeOrder } from './order-stream.ts';
import { SeededRandom } from './random.ts';
import { CommitWriter } from './stream.ts';

export type RoundRobinOptions = {
  readonly commits: number;
  /** How many orders; the versions of each stand this many commits apart. */
  readonly aggregates: number;
  readonly seed?: number;
};

const TENANTS = ['acme', 'globex'] as const;
const BUYERS = 1_000;

/** Commits of open orders only, one of each in turn: for benchmarks, the worst case for a batch that coalesces writes. */
export function* roundRobinCommits({
  commits,
  aggregates,
  seed = 1,
}: RoundRobinOptions): Generator<CommitRecord, void, undefined> {
  const random = new SeededRandom(seed);
  const writer = new CommitWriter({ random, idPrefix: `r${seed.toString(36)}-` });
  const orders: OrderStream[] = [];
  for (let count = 0; count < commits; count += 1) {
    writer.advance();
    const place = count % aggregates;
    let order = orders[place];
    if (order === undefined) {
      order = newOrder({ ...idsOf(place), buyerId: someBuyer(random), random });
      orders.push(order);
      yield placeOrder(order, writer);
    } else {
      yield changeOrder(order, [nextEvent(order, random)], writer);
    }
  }
}

/** Both tenants number their orders alike. */
function idsOf(place: number): { readonly tenantId: string; readonly id: string } {
  const number = Math.floor(place / TENANTS.length) + 1;
  return { tenantId: TENANTS[place % TENANTS.length] ?? TENANTS[0], id: `order-${String(number).padStart(7, '0')}` };
}

function nextEvent(order: OrderStream, random: SeededRandom): OrderEvent {
  if (random.chance(0.9)) return quantityChange(order, random);
  return { name: 'order_reassigned', body: { fromBuyerId: order.ownerId, toBuyerId: someBuyer(random) } };
}

function someBuyer(random: SeededRandom): string {
  return `buyer-${String(random.integer(1, BUYERS)).padStart(4, '0')}`;
}
