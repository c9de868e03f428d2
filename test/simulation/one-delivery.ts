import { rowId } from '../../src/read-models/row-id.ts';
import type { RowValue } from '../../src/read-models/write.ts';
import type { FunctionName } from './shop.ts';
import type { MadeCommit } from './workload.ts';

/**
 * What readers see after exactly one delivery of these commits in version order: written down anew from what each
 * function is for, and knowing nothing of guards, windows or source records.
 */
export function rowsAfterOneDelivery(
  name: FunctionName,
  handled: readonly MadeCommit[],
): Readonly<Record<string, RowValue>> {
  const orders = byAggregate(handled, 'order');
  const rows = new Map<string, Record<string, unknown>>();
  for (const commits of orders) {
    const last = commits.at(-1);
    const order = last?.order;
    if (last === undefined || order === undefined) continue;
    const id = rowId([last.tenantId, last.id]);
    const isDeleted = order.status === 'deleted';
    switch (name) {
      case 'onRows':
        if (!isDeleted) rows.set(id, { status: order.status, buyer: order.buyer, amount: order.amount });
        break;
      case 'onShipped':
        for (const { events, version } of commits) {
          for (const event of events) {
            if (event.name === 'order_shipped') rows.set(id, { by: event.body.by, version });
          }
        }
        break;
      case 'onCodes':
        if (!isDeleted) rows.set(id, { code: order.code });
        break;
      case 'onBuyer':
        if (order.status === 'open') rows.set(rowId([last.tenantId, order.buyer, last.id]), { amount: order.amount });
        break;
      case 'onSlots':
        if (!isDeleted) rows.set(order.slot, { order: last.id });
        break;
      case 'onTotals':
        if (!isDeleted) sum(rows, order.buyer, { orders: 1, amount: order.amount });
        break;
      case 'onAdded':
        for (const { order: then, events } of commits) {
          for (const event of events) {
            if (event.name === 'order_paid' && then !== undefined) sum(rows, then.buyer, { paid: event.body.amount });
          }
        }
        break;
      case 'onJoined':
        if (!isDeleted) rows.set(id, { status: order.status });
        break;
    }
  }
  if (name === 'onJoined') join(rows, byAggregate(handled, 'payment'));
  return Object.fromEntries(rows);
}

function join(rows: Map<string, Record<string, unknown>>, payments: readonly (readonly MadeCommit[])[]): void {
  for (const commits of payments) {
    const last = commits.at(-1);
    const row = last === undefined ? undefined : rows.get(rowId([last.tenantId, last.id]));
    if (row !== undefined) row['method'] = last?.payment?.method;
  }
}

/** The commits of each aggregate, each version once, in version order. */
function byAggregate(commits: readonly MadeCommit[], kind: MadeCommit['kind']): readonly (readonly MadeCommit[])[] {
  const own = commits.filter((each) => each.kind === kind);
  return [...Map.groupBy(own, aggregateKey).values()].map((all) => {
    const versions = new Map(all.map((each) => [each.version, each]));
    return [...versions.values()].toSorted((a, b) => a.version - b.version);
  });
}

export function aggregateKey({ kind, tenantId, id }: MadeCommit): string {
  return `${kind}/${tenantId}/${id}`;
}

function sum(rows: Map<string, Record<string, unknown>>, id: string, amounts: Readonly<Record<string, number>>): void {
  const row = rows.get(id) ?? {};
  for (const [field, amount] of Object.entries(amounts)) row[field] = Number(row[field] ?? 0) + amount;
  rows.set(id, row);
}

/** Whether the function calls a handler for the commit. */
export function isWanted(name: FunctionName, { kind, events }: MadeCommit): boolean {
  if (kind === 'payment') return name === 'onJoined';
  return name !== 'onShipped' || events.some((event) => event.name === 'order_shipped');
}

/** Whether a handler of the function throws for the commit. */
export function isPoison(name: FunctionName, commit: MadeCommit): boolean {
  const { failsIn } = commit.order ?? commit.payment ?? { failsIn: [] };
  const isCalled = name !== 'onAdded' || commit.events.some((event) => event.name === 'order_paid');
  return failsIn.some((each) => each === name) && isWanted(name, commit) && isCalled;
}

/** Whether source records are kept for the function. */
export function keepsSources(name: FunctionName): boolean {
  return name === 'onBuyer' || name === 'onSlots' || name === 'onTotals' || name === 'onAdded';
}
