import type { CommitRecord } from 'tidemark';
import { describe, expect, test } from 'vitest';
import { eshopCommits } from '../../../../examples/eshop/generator/eshop-commits.ts';
import type { OrderEvents, OrderState } from '../../../../examples/eshop/order.ts';
import { jsonCommitCodec } from '../../../../src/log/json-commit-codec.ts';

const commits = [...eshopCommits({ commits: 3_000, seed: 3 })];
const orders = commits.filter(({ aggregateName }) => aggregateName === 'order');
const keyOf = ({ aggregateName, tenantId, aggregateId }: CommitRecord) => `${aggregateName}/${tenantId}/${aggregateId}`;
const byAggregate = Map.groupBy(commits, keyOf);

function bodiesOf<Name extends keyof OrderEvents>(name: Name): { record: CommitRecord; body: OrderEvents[Name] }[] {
  return orders.flatMap((record) =>
    record.body.filter((event) => event.name === name).map(({ body }) => ({ record, body: body as OrderEvents[Name] })),
  );
}

function cents(amount: number): number {
  return Math.round(amount * 100);
}

describe('the commits of the shop', () => {
  test('are the same for the same seed, and others for another one', () => {
    expect([...eshopCommits({ commits: 3_000, seed: 3 })]).toEqual(commits);
    expect([...eshopCommits({ commits: 3_000, seed: 4 })]).not.toEqual(commits);
  });

  test('are as many as asked, the first of more', () => {
    expect([...eshopCommits({ commits: 100, seed: 3 })]).toEqual(commits.slice(0, 100));
    expect([...eshopCommits({ commits: 0 })]).toEqual([]);
  });

  test('raise the version of each aggregate by one, from 1', () => {
    for (const own of byAggregate.values()) {
      expect(own.map(({ version }) => version)).toEqual(own.map((_, place) => place + 1));
    }
  });

  test('have ids of their own, and times that do not go back', () => {
    expect(new Set(commits.map(({ id }) => id)).size).toBe(commits.length);
    const times = commits.map(({ createTime }) => createTime);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test('are read by the codec, all of them whole', () => {
    const codec = jsonCommitCodec();
    for (const record of commits.slice(0, 1_000)) {
      const at = { topic: 't', partition: 0, offset: 0, timestamp: record.createTime, headers: [] };
      const decoded = codec.decode({ ...at, key: record.aggregateId, value: JSON.stringify(record) });
      expect(decoded).toMatchObject({
        kind: 'commit',
        commit: {
          id: record.id,
          version: record.version,
          ref: { context: 'eshop', aggregate: record.aggregateName, tenantId: record.tenantId, id: record.aggregateId },
          ownerId: record.ownerId,
          deleted: record.deleted,
          header: record.header,
          state: record.state,
          events: record.body,
        },
      });
    }
  });

  test('are about 1 KB each', () => {
    const bytes = commits.reduce((sum, record) => sum + Buffer.byteLength(JSON.stringify(record)), 0);
    expect(bytes / commits.length).toBeGreaterThan(700);
    expect(bytes / commits.length).toBeLessThan(1_500);
  });

  test('are of all four aggregates, some with several events', () => {
    expect(new Set(commits.map(({ aggregateName }) => aggregateName))).toEqual(
      new Set(['order', 'payment', 'buyer', 'brand']),
    );
    expect(commits.filter(({ body }) => body.length > 1).length).toBeGreaterThan(50);
  });

  test('are of two tenants that share ids, also between an order and its payment', () => {
    const idsOf = (aggregate: string, tenant: string) =>
      new Set(
        commits
          .filter(({ aggregateName, tenantId }) => aggregateName === aggregate && tenantId === tenant)
          .map(({ aggregateId }) => aggregateId),
      );
    expect(idsOf('order', 'acme').intersection(idsOf('order', 'globex')).size).toBeGreaterThan(100);
    expect(idsOf('payment', 'acme').intersection(idsOf('payment', 'globex')).size).toBeGreaterThan(50);
  });
});

describe('the orders of the shop', () => {
  test('belong to the new buyer from the commit on that gives them away', () => {
    const reassigned = bodiesOf('order_reassigned');
    expect(reassigned.length).toBeGreaterThan(50);
    for (const { record, body } of reassigned) {
      const before = byAggregate.get(keyOf(record))?.[record.version - 2];
      expect(before?.ownerId).toBe(body.fromBuyerId);
      expect(record.ownerId).toBe(body.toBuyerId);
      expect(body.toBuyerId).not.toBe(body.fromBuyerId);
    }
  });

  test('are deleted and recovered, and nothing else happens to them while they are deleted', () => {
    expect(bodiesOf('order_deleted').length).toBeGreaterThan(20);
    expect(bodiesOf('order_recovered').length).toBeGreaterThan(10);
    for (const own of byAggregate.values()) {
      let isDeleted = false;
      for (const { body, deleted } of own) {
        const names = body.map(({ name }) => name);
        expect(isDeleted ? names : ['order_recovered']).toEqual(['order_recovered']);
        isDeleted = names.includes('order_deleted') || (isDeleted && !names.includes('order_recovered'));
        expect(deleted).toBe(isDeleted);
      }
    }
  });

  test('are cancelled and shipped', () => {
    expect(bodiesOf('order_cancelled').length).toBeGreaterThan(20);
    expect(bodiesOf('order_shipped').length).toBeGreaterThan(100);
  });

  test('cost what their lines cost, to the cent', () => {
    for (const { state } of orders) {
      const { totalAmount, units, lines } = state as OrderState;
      expect(lines.length).toBeGreaterThan(0);
      expect(new Set(lines.map(({ productId }) => productId)).size).toBe(lines.length);
      expect(cents(totalAmount)).toBe(lines.reduce((sum, line) => sum + cents(line.unitPrice) * line.quantity, 0));
      expect(units).toBe(lines.reduce((sum, { quantity }) => sum + quantity, 0));
      expect(String(totalAmount)).toMatch(/^\d+(\.\d{1,2})?$/);
    }
  });

  test('are placed before or after their payment is started', () => {
    const place = new Map(commits.map((record, index) => [`${keyOf(record)}@${record.version}`, index]));
    const isPaymentFirst = [...place].flatMap(([key, index]) => {
      const order = key.endsWith('@1') ? place.get(key.replace('payment/', 'order/')) : undefined;
      return key.startsWith('payment/') && order !== undefined ? [index < order] : [];
    });
    expect(new Set(isPaymentFirst)).toEqual(new Set([true, false]));
  });

  test('are paid with what they cost', () => {
    const paid = bodiesOf('order_paid');
    expect(paid.length).toBeGreaterThan(100);
    for (const { record, body } of paid) expect(body.amount).toBe((record.state as OrderState).totalAmount);
  });
});

describe('the brands of the shop', () => {
  test('hold the key of their name, which no other brand of the tenant holds', () => {
    const holders = new Map<string, string>();
    for (const record of commits.filter(({ aggregateName }) => aggregateName === 'brand')) {
      for (const { key } of record.reservations?.held ?? []) {
        expect(holders.get(`${record.tenantId}/${key}`)).toBeUndefined();
        holders.set(`${record.tenantId}/${key}`, record.aggregateId);
      }
      for (const { key } of record.reservations?.released ?? []) {
        expect(holders.get(`${record.tenantId}/${key}`)).toBe(record.aggregateId);
        holders.delete(`${record.tenantId}/${key}`);
      }
    }
    expect(holders.size).toBeGreaterThan(10);
  });
});

describe('a later series', () => {
  const later = [...eshopCommits({ commits: 500, seed: 3, series: 'x' })];

  test('has aggregates and commits of its own, so that it goes onto the same log', () => {
    const keys = new Set(later.map(keyOf));
    expect(keys.intersection(new Set(byAggregate.keys()))).toEqual(new Set());
    const ids = new Set(later.map(({ id }) => id));
    expect(ids.intersection(new Set(commits.map(({ id }) => id)))).toEqual(new Set());
    expect(new Set(later.map(({ aggregateName }) => aggregateName))).toEqual(new Set(['order', 'payment']));
  });

  test('happens when its clock says', () => {
    let nowMs = 1_790_000_000_000;
    const timed = [...eshopCommits({ commits: 50, series: 'x', nowMs: () => (nowMs += 200) })];
    expect(timed.map(({ createTime }) => createTime)).toEqual(timed.map((_, place) => 1_790_000_000_200 + place * 200));
  });

  test('is ordered by buyers of before', () => {
    const buyers = new Set(commits.map(({ ownerId }) => ownerId));
    expect(new Set(later.map(({ ownerId }) => ownerId)).isSubsetOf(buyers)).toBe(true);
  });
});
