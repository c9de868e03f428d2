import { isDeepStrictEqual } from 'node:util';
import type { LedgerEntry } from '../../src/failures/failure.ts';
import { type Position, partitionKey } from '../../src/log/position.ts';
import { refOf } from '../../src/log/ref.ts';
import { EVENT_INDEX_STATE, type Guard } from '../../src/read-models/guard.ts';
import { rowId } from '../../src/read-models/row-id.ts';
import type { World } from '../../src/testing/world/world.ts';
import { aggregateKey, isPoison, isWanted, keepsSources, rowsAfterOneDelivery } from './one-delivery.ts';
import { type FunctionName, modelOf, scopeOf, topicsOf } from './shop.ts';
import type { MadeCommit, Published } from './workload.ts';

export type Checked = {
  readonly world: World;
  readonly functions: readonly FunctionName[];
  readonly published: readonly Published[];
};

type Seen = {
  /** Records below the checkpoint that the function takes, in log order. */
  readonly passed: readonly Published[];
  readonly entries: ReadonlyMap<string, LedgerEntry>;
};

/** What must hold at every moment, between any two things that happen. Empty: all is well. */
export function momentProblems(checked: Checked, highest: Map<string, number>): readonly string[] {
  return checked.functions.flatMap((name) => [
    ...positionProblems(checked, name, highest),
    ...effectProblems(checked, name),
    ...orderProblems(checked, name),
    ...growthProblems(checked, name),
  ]);
}

/** What must hold once everything was handled that can be. */
export async function endProblems(checked: Checked): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const name of checked.functions) {
    problems.push(...unhandled(checked, name), ...parkedForNothing(checked, name));
    problems.push(...(await rowProblems(checked, name)), ...sourceProblems(checked, name));
  }
  return problems;
}

function see({ world, published }: Checked, name: FunctionName): Seen {
  const scope = scopeOf(name);
  const entries = new Map(world.stores.tables.entriesOf(scope).map((entry) => [placeOf(entry.position), entry]));
  const topics = topicsOf(name);
  const passed = published.filter(({ position, commit }) => {
    if (!topics.includes(position.topic) || position.offset >= offsetOf(world, name, position)) return false;
    return commit === undefined || keepsSources(name) || isWanted(name, commit);
  });
  return { passed, entries };
}

function offsetOf(world: World, name: FunctionName, position: Position): number {
  return world.stores.checkpoints.stored(scopeOf(name), position)?.offset ?? 0;
}

/** No checkpoint ever moves back, or beyond the log. */
function positionProblems({ world }: Checked, name: FunctionName, highest: Map<string, number>): readonly string[] {
  return topicsOf(name).flatMap((topic) =>
    world.log.partitionsOf(topic).flatMap(({ partition, end }) => {
      const offset = world.stores.checkpoints.stored(scopeOf(name), { topic, partition })?.offset ?? 0;
      const key = `${name} ${partitionKey({ topic, partition })}`;
      const before = highest.get(key) ?? 0;
      highest.set(key, offset);
      return offset < before || offset > end
        ? [`${key}: the checkpoint went from ${before} to ${offset} of ${end}`]
        : [];
    }),
  );
}

/** Everything below a checkpoint is in the ledger, or its effect is there: a checkpoint is never ahead of effects. */
function effectProblems(checked: Checked, name: FunctionName): readonly string[] {
  const { passed, entries } = see(checked, name);
  return passed.flatMap(({ position, commit }) => {
    if (entries.has(placeOf(position))) return [];
    const where = `${name}: ${describe(commit)} at ${placeOf(position)}`;
    if (commit === undefined) return [`${where} is no commit, was passed and is not parked`];
    if (isPoison(name, commit)) return [`${where} fails, was passed and is not parked`];
    return hasEffect(checked.world, name, commit) ? [] : [`${where} was passed without effect`];
  });
}

/** While an entry waits nothing of its sequence that came behind it, with a higher version, was handled. */
function orderProblems(checked: Checked, name: FunctionName): readonly string[] {
  const { passed, entries } = see(checked, name);
  const problems: string[] = [];
  for (const [place, { position, version = 0, ref }] of entries) {
    const head = passed.find((each) => placeOf(each.position) === place);
    if (head === undefined) {
      problems.push(`${name}: ${place} is parked, but no checkpoint passed it`);
      continue;
    }
    for (const later of passed) {
      const isBehind = later.position.topic === position.topic && later.position.partition === position.partition;
      if (!isBehind || later.position.offset <= position.offset || entries.has(placeOf(later.position))) continue;
      const isSame = ref === undefined ? later.key === head.key : refOfCommit(later.commit) === ref;
      if (!isSame || (later.commit?.version ?? 0) <= version) continue;
      if (wasHandledBefore(passed, later, position.offset)) continue;
      problems.push(`${name}: ${describe(later.commit)} was handled while ${describe(head.commit)} at ${place} waits`);
    }
  }
  return problems;
}

/** While an entry of an older partition waits, what its aggregate published to an added one after it was not handled. */
function growthProblems(checked: Checked, name: FunctionName): readonly string[] {
  const { passed, entries } = see(checked, name);
  const isAddedAt = ({ position }: Published): boolean => isAdded(checked, name, position);
  const inPlace = passed.filter((each) => each.isInPlace);
  const moved = inPlace.filter((each) => isAddedAt(each) && !entries.has(placeOf(each.position)));
  return inPlace.flatMap((head) => {
    if (isAddedAt(head) || !entries.has(placeOf(head.position))) return [];
    return moved
      .filter(({ commit }) => refOfCommit(commit) === refOfCommit(head.commit))
      .filter(({ commit }) => (commit?.version ?? 0) > (head.commit?.version ?? 0))
      .map((later) => `${name}: ${describe(later.commit)} was handled while ${describe(head.commit)} waits elsewhere`);
  });
}

/** Whether the partition came to be after the start was recorded. */
function isAdded({ world }: Checked, name: FunctionName, { topic, partition }: Position): boolean {
  const starts = world.stores.checkpoints.recorded(scopeOf(name), topic)?.starts ?? [];
  return starts.length > 0 && starts.every((start) => start.partition !== partition);
}

/** A repeated commit may be handled, without effect, where its first appearance stood before. */
function wasHandledBefore(passed: readonly Published[], later: Published, offset: number): boolean {
  return passed.some(
    ({ position, commit }) =>
      position.offset < offset &&
      partitionKey(position) === partitionKey(later.position) &&
      commit?.version === later.commit?.version &&
      refOfCommit(commit) === refOfCommit(later.commit),
  );
}

function hasEffect({ stores }: World, name: FunctionName, commit: MadeCommit): boolean {
  const { tenantId, id, version } = commit;
  if (keepsSources(name)) {
    const source = stores.tables.sourcesOf(scopeOf(name)).get(refOf(refOfMade(commit)));
    const isMissing = source?.missing.some(({ from, to }) => from <= version && version <= to) === true;
    return source !== undefined && source.version >= version && !isMissing;
  }
  const guard = stores.tables.models.get(modelOf[name])?.rows.get(rowId([tenantId, id]))?.guard;
  return guard !== undefined && isCovered(guard, name, commit);
}

function isCovered(guard: Guard, name: FunctionName, commit: MadeCommit): boolean {
  const eventIndex = name === 'onShipped' ? lastShipped(commit) : EVENT_INDEX_STATE;
  const part = guard.kind === 'parts' ? guard.parts[`shop.${commit.kind}`] : undefined;
  const own = guard.kind === 'owner' ? guard : part;
  if (own === undefined) return false;
  return own.version > commit.version || (own.version === commit.version && own.eventIndex >= eventIndex);
}

function lastShipped({ events }: MadeCommit): number {
  return events.findLastIndex(({ name }) => name === 'order_shipped');
}

/** Every position is accounted for: below a checkpoint, so handled or in the ledger. */
function unhandled({ world }: Checked, name: FunctionName): readonly string[] {
  return topicsOf(name).flatMap((topic) =>
    world.log.partitionsOf(topic).flatMap(({ partition, end }) => {
      const offset = world.stores.checkpoints.stored(scopeOf(name), { topic, partition })?.offset;
      return offset === end ? [] : [`${name}: p${partition} of ${topic} stands at ${offset} of ${end}`];
    }),
  );
}

/** What is in the ledger failed itself or stands behind such a one, and is the record that the log has there. */
function parkedForNothing(checked: Checked, name: FunctionName): readonly string[] {
  const { passed, entries } = see(checked, name);
  return passed.flatMap((own) => {
    const { position, key, commit } = own;
    const entry = entries.get(placeOf(position));
    if (entry === undefined) return [];
    const where = `${name}: ${describe(commit)} at ${placeOf(position)}`;
    if (entry.version !== commit?.version || entry.record.offset !== position.offset || entry.record.key !== key) {
      return [`${where} is another one in the ledger`];
    }
    const isFailure = commit === undefined || isPoison(name, commit);
    if (isFailure) return [];
    const hasReason = passed.some((before) => {
      const isHere = partitionKey(before.position) === partitionKey(position);
      const isBefore = isHere ? before.position.offset < position.offset : isAdded(checked, name, position);
      if (!isBefore || !entries.has(placeOf(before.position)) || before.key !== key) return false;
      return before.commit === undefined || (isPoison(name, before.commit) && isSameAggregate(before.commit, commit));
    });
    return hasReason ? [] : [`${where} is parked without a reason: ${entry.failure?.cause.code ?? 'as a follower'}`];
  });
}

async function rowProblems(checked: Checked, name: FunctionName): Promise<readonly string[]> {
  const { world } = checked;
  const expected = rowsAfterOneDelivery(name, handledBy(checked, name));
  const stored = await world.stores.readModels.readRows(modelOf[name], { afterId: undefined, limit: 100_000 });
  const rows = Object.fromEntries(stored.map(({ id, row }) => [id, row]));
  const ids = new Set([...Object.keys(expected), ...Object.keys(rows)]);
  return [...ids]
    .filter((id) => !isDeepStrictEqual(expected[id], rows[id]))
    .map((id) => `${name}: row ${id} is ${JSON.stringify(rows[id])}, not ${JSON.stringify(expected[id])}`);
}

/** A source record knows exactly the versions that were handled. */
function sourceProblems(checked: Checked, name: FunctionName): readonly string[] {
  if (!keepsSources(name)) return [];
  const sources = checked.world.stores.tables.sourcesOf(scopeOf(name));
  const handled = Map.groupBy(handledBy(checked, name), aggregateKey);
  return [...handled].flatMap(([key, commits]) => {
    const [first] = commits;
    const source = first === undefined ? undefined : sources.get(refOf(refOfMade(first)));
    const versions = new Set(commits.map(({ version }) => version));
    const known = new Set<number>();
    for (let version = 1; version <= (source?.version ?? 0); version += 1) {
      if (source?.missing.some(({ from, to }) => from <= version && version <= to) === false) known.add(version);
    }
    const isSame = known.size === versions.size && known.isSubsetOf(versions);
    return isSame
      ? []
      : [`${name}: the source record of ${key} knows ${[...known].join()}, handled were ${[...versions].join()}`];
  });
}

function handledBy(checked: Checked, name: FunctionName): readonly MadeCommit[] {
  const { passed, entries } = see(checked, name);
  return passed.flatMap(({ position, commit }) =>
    commit === undefined || entries.has(placeOf(position)) ? [] : [commit],
  );
}

function isSameAggregate(a: MadeCommit, b: MadeCommit): boolean {
  return aggregateKey(a) === aggregateKey(b);
}

function refOfMade({ kind, tenantId, id }: MadeCommit) {
  return { context: 'shop', aggregate: kind, tenantId, id };
}

function refOfCommit(commit: MadeCommit | undefined): string | undefined {
  return commit === undefined ? undefined : refOf(refOfMade(commit));
}

function placeOf(position: Position): string {
  return `${partitionKey(position)}@${position.offset}`;
}

function describe(commit: MadeCommit | undefined): string {
  return commit === undefined ? 'a broken record' : `${aggregateKey(commit)} version ${commit.version}`;
}
