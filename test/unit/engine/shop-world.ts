import { aggregate } from '../../../src/aggregates/aggregate.ts';
import type { Checkpoint } from '../../../src/checkpoints/checkpoint.ts';
import type { ListedEntry } from '../../../src/failures/failure-ledger.ts';
import type { Position, TopicPartition } from '../../../src/log/position.ts';
import { into, projection } from '../../../src/projections/projection.ts';
import type { ProjectionResult } from '../../../src/projections/projection-result.ts';
import { type ReadModel, readModel } from '../../../src/read-models/read-model.ts';
import type { RowValue } from '../../../src/read-models/write.ts';
import { defaultSettings, type SubscriptionSettings } from '../../../src/subscriptions/settings.ts';
import type { CatchUp, PartitionStatus } from '../../../src/subscriptions/status.ts';
import { type Worker, worker } from '../../../src/subscriptions/worker.ts';
import { commit } from '../../../src/testing/commit.ts';
import { type Process, type ProcessOptions, World, type WorldOptions } from '../../../src/testing/world/world.ts';

export type OrderState = {
  readonly status: string;
  readonly buyer?: string;
  readonly amount?: number;
  readonly code?: string;
};
export type OrderEvents = { order_changed: { readonly note: string }; order_shipped: { readonly by: string } };
export type OrderEvent = Parameters<Parameters<typeof Order.onState>[0]>[0];
export type OrderRow = { readonly status: string; readonly version: number };

export const Order = aggregate<OrderState, OrderEvents>('shop.order');
export const Orders = readModel<OrderRow>('orders');
/** A row per order with its code, which no two may share. */
export const Codes = readModel<{ code: string }>('codes', { indexes: [{ fields: { code: 1 }, unique: true }] });
export const scope = { subscription: 'OrderProjection.onEvent', generation: 1 };

/** Thrown by the usual handler for an order of status `poison`. */
export class PoisonError extends Error {
  override readonly name = 'PoisonError';
}

export function shopWorld({ partitions = 1, ...options }: WorldOptions & { readonly partitions?: number } = {}): World {
  const world = new World(options);
  world.log.createTopic(Order.topic, partitions);
  return world;
}

export function partition(number = 0): TopicPartition {
  return { topic: Order.topic, partition: number };
}

export type PublishOptions = Partial<OrderState> & {
  readonly version: number;
  readonly partition?: number;
  readonly tenantId?: string;
  readonly events?: readonly (keyof OrderEvents)[];
};

/** Appends one commit of an order to the log. */
export function publish(world: World, id: string, options: PublishOptions): Position {
  const { version, partition: number = 0, tenantId = '(0)', events: names, ...changed } = options;
  const [first = 'order_changed', ...rest] = names ?? [];
  const record = commit(Order, {
    id,
    version,
    tenantId,
    events: [eventOf(first), ...rest.map(eventOf)],
    state: { status: `v${version}`, ...changed },
  });
  return world.log.append(partition(number), { key: id, value: JSON.stringify(record) });
}

function eventOf(name: keyof OrderEvents) {
  return name === 'order_changed' ? { name, body: { note: 'changed' } } : { name, body: { by: 'ship' } };
}

/** A worker with one projection of orders; by default it keeps a row per order and fails on poison. */
export function shopWorker(
  handle: (event: OrderEvent) => ProjectionResult = keepRow,
  model: ReadModel = Orders,
): Worker {
  return worker({
    context: 'shop',
    subscriptions: [projection('OrderProjection', { onEvent: into(model, Order.onState(handle)) })],
  });
}

export function keepRow({ ref, version, state }: OrderEvent): ProjectionResult {
  if (state.status === 'poison') throw new PoisonError(`order ${ref.id} is poison`);
  return Orders.put(ref.id, { status: state.status, version });
}

export type SettingsChange = {
  readonly [Group in keyof SubscriptionSettings]?: SubscriptionSettings[Group] extends object
    ? Partial<SubscriptionSettings[Group]>
    : SubscriptionSettings[Group];
};

export function settings(change: SettingsChange = {}): SubscriptionSettings {
  return {
    start: change.start,
    batch: { ...defaultSettings.batch, ...change.batch },
    transaction: { ...defaultSettings.transaction, ...change.transaction },
    checkpoint: { ...defaultSettings.checkpoint, ...change.checkpoint },
    parked: { ...defaultSettings.parked, ...change.parked },
  };
}

/** Starts a process. */
export function started(world: World, definition: Worker = shopWorker(), options: ProcessOptions = {}): Process {
  const process = world.process(definition, options);
  process.engine.start();
  return process;
}

export function caughtUp(world: World, { engine }: Process): Promise<CatchUp> {
  return world.clock.runUntil(engine.caughtUp(new AbortController().signal));
}

export function stopped(world: World, { engine }: Process): Promise<void> {
  return world.clock.runUntil(engine.stop());
}

/** Starts a process, lets it handle all there is, and stops it. */
export async function follow(world: World, definition?: Worker, options?: ProcessOptions): Promise<Process> {
  const process = started(world, definition, options);
  await caughtUp(world, process);
  await stopped(world, process);
  return process;
}

/** Rows of a model by id, as readers see them. */
export async function rowsOf(world: World, model = 'orders'): Promise<Readonly<Record<string, RowValue>>> {
  const rows = await world.stores.readModels.readRows(model, { afterId: undefined, limit: 10_000 });
  return Object.fromEntries(rows.map(({ id, row }) => [id, row]));
}

export async function checkpointOf(world: World, number = 0): Promise<Checkpoint | undefined> {
  return world.stores.checkpoints.read(scope, partition(number));
}

export async function parkedIn(world: World): Promise<readonly ListedEntry[]> {
  return world.stores.ledger.list({}, 10_000);
}

/** `id@version` of each parked commit, with the code of what failed itself. */
export async function parkedCommits(world: World): Promise<readonly string[]> {
  return (await parkedIn(world)).map(({ ref, version, failure }) => {
    const id = ref === undefined ? '?' : ref.split('/').at(-1);
    return `${id}@${version ?? '?'}${failure === undefined ? '' : ` ${failure.cause.code}`}`;
  });
}

export function partitionStatus({ engine }: Process, number = 0): PartitionStatus | undefined {
  return engine.status()[0]?.partitions.find(({ partition: each }) => each === number);
}
