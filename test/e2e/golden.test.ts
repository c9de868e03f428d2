import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Workplace } from '../support/command-line.ts';

const golden = join(import.meta.dirname, '..', 'golden', 'wow');

/** Counts the events of each cart as its event topic has them, and keeps each order's state as its state topic has it. */
const app = `
import { aggregate, into, projection, readModel, worker } from 'tidemark';

const Order = aggregate('example-service.order', { contextAlias: 'example' });
const Cart = aggregate('example-service.cart', { contextAlias: 'example', topic: 'event' });
const Orders = readModel('genuine_orders');
const Events = readModel('genuine_events', { kind: 'totals' });
const names = ['cart_item_added', 'cart_item_removed', 'cart_quantity_changed'];

export default worker({
  context: 'example-service',
  subscriptions: [
    projection('Orders', { onEvent: into(Orders, Order.onState(({ ref, version, state }) => Orders.put([ref.tenantId, ref.id], { version, state }))) }),
    projection('Events', { onEvent: into(Events, Cart.on(names, ({ ref, name }) => Events.add([ref.tenantId, ref.id], { [name]: 1 }))) }),
  ],
});
`;

type Value = {
  readonly aggregateName: string;
  readonly tenantId: string;
  readonly aggregateId: string;
  readonly version: number;
  readonly state: unknown;
  readonly body: readonly { readonly name: string }[];
};

async function valuesOf(file: string): Promise<readonly Value[]> {
  const lines = (await readFile(join(golden, file), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse((JSON.parse(line) as { readonly value: string }).value) as Value);
}

const keyOf = ({ tenantId, aggregateId }: Value): string => JSON.stringify([tenantId, aggregateId]);

/** One delivery in version order: the newest state of each order, and each version's events of a cart once. */
async function expectedRows(): Promise<{ readonly orders: object[]; readonly events: object[] }> {
  const orders = new Map<string, Value>();
  for (const value of await valuesOf('state.jsonl')) {
    if (value.aggregateName !== 'order') continue;
    if ((orders.get(keyOf(value))?.version ?? 0) < value.version) orders.set(keyOf(value), value);
  }
  const seen = new Set<string>();
  const events = new Map<string, Record<string, number>>();
  for (const value of await valuesOf('event.jsonl')) {
    const known = ['cart_item_added', 'cart_item_removed', 'cart_quantity_changed'];
    const isNew = !seen.has(`${keyOf(value)}@${value.version}`);
    if (value.aggregateName !== 'cart' || !isNew) continue;
    seen.add(`${keyOf(value)}@${value.version}`);
    for (const { name } of value.body.filter((event) => known.includes(event.name))) {
      const counts = events.get(keyOf(value)) ?? {};
      events.set(keyOf(value), { ...counts, [name]: (counts[name] ?? 0) + 1 });
    }
  }
  return {
    orders: [...orders.values()].map(({ version, state }) => ({ version, state })),
    events: [...events.values()],
  };
}

function withoutIds(stdout: string): object[] {
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
  return rows.map(({ _id, ...row }) => row);
}

test('genuine records of a foreign publisher, all appended as they are, give right rows by an app elsewhere', async () => {
  await using workplace = await Workplace.open();
  await workplace.write('app.ts', app);
  const config = await workplace.write('worker.yaml', 'app: ./app.ts\nembedded: { file: ./genuine.db }\n');
  const tidemark = (...args: readonly string[]) => workplace.run([...args, '--config', config]);

  for (const file of ['event.jsonl', 'state.jsonl']) {
    const appended = await tidemark('append', join(golden, file), '--as-is');
    expect(appended).toMatchObject({ code: 0 });
  }
  const run = await tidemark('run', '--until-caught-up');
  expect(run).toMatchObject({ code: 0 });
  expect((await tidemark('failures', 'list', '--json')).stdout).toBe('');

  const { orders, events } = await expectedRows();
  const orderRows = withoutIds((await tidemark('rows', 'genuine_orders', '--json')).stdout);
  expect(orderRows).toHaveLength(orders.length);
  expect(orderRows).toEqual(expect.arrayContaining(orders));
  const eventRows = withoutIds((await tidemark('rows', 'genuine_events', '--json')).stdout);
  expect(eventRows).toHaveLength(events.length);
  expect(eventRows).toEqual(expect.arrayContaining(events));
});
