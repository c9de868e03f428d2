import type { RefKey } from '../../log/ref.ts';
import type { ModelShape } from '../model-shape.ts';
import type { DecidingCall, PendingAggregate } from '../pending/pending-aggregate.ts';
import type { SourceRecord } from '../source-record.ts';
import { countVersions, includesVersion, withoutVersions } from '../version-ranges.ts';
import type { Amounts, WriteOf } from '../write.ts';
import type { Refusal } from '../write-plan.ts';
import type { GuardedWrite } from './guarded-write.ts';
import type { TotalChange } from './total-decision.ts';

/** Stretches of missing versions that a source record holds. */
export const missingRangesMax = 64;

/** What a window means for an aggregate with this source record. */
export type SourceOutcome =
  | { readonly kind: 'stale' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'changed';
      readonly record: SourceRecord;
      readonly releases: readonly GuardedWrite<WriteOf<'remove'>>[];
      readonly puts: readonly GuardedWrite<WriteOf<'put'>>[];
      readonly totals: readonly TotalChange[];
    };

export type SourceDecisionOptions = {
  readonly source: SourceRecord | undefined;
  /** All models of the function: a source record names rows of models that the window does not write. */
  readonly models: readonly ModelShape[];
};

/**
 * Handles the versions that were not handled yet, each once. The newest call decides, if no newer one did before, all that
 * the aggregate holds and contributes; what it held and does not put now is let go.
 */
export function decideSource(pending: PendingAggregate, options: SourceDecisionOptions): SourceOutcome {
  const before = options.source ?? unseen(pending.ref);
  const seen = pending.seen.ranges;
  const version = Math.max(before.version, seen.at(-1)?.to ?? 0);
  const missing = withoutVersions(missingUpTo(before, version), seen);
  const isStale = version === before.version && countVersions(missing) === countVersions(before.missing);
  if (isStale) return { kind: 'stale' };
  if (missing.length > missingRangesMax) return { kind: 'refused', refusal: versionsMissing(pending.ref, version) };
  const isNew = (each: number): boolean => each > before.version || includesVersion(before.missing, each);
  const call = pending.decidingCall;
  const isUndecided = call !== undefined && call.version > before.decided;
  if (isUndecided && !isNew(call.version)) return { kind: 'refused', refusal: writesCoalesced(pending.ref, call) };

  const totals = addsOf(pending, isNew);
  const record = { ...before, version, missing };
  if (!isUndecided) return { kind: 'changed', record, releases: [], puts: [], totals };
  const writer = { ref: pending.ref, aggregate: pending.name, version: call.version, eventIndex: call.eventIndex };
  return {
    kind: 'changed',
    record: {
      ...record,
      decided: call.version,
      held: { ...kept(before.held, options.models), ...heldBy(call) },
      contributions: { ...kept(before.contributions, options.models), ...contributedBy(call) },
    },
    releases: releasesOf(before, { call, models: options.models }).map((write) => ({ ...writer, write })),
    puts: call.puts.map((write) => ({ ...writer, write })),
    totals: [...totals, ...contributionChanges(before, { call, models: options.models })],
  };
}

function unseen(ref: RefKey): SourceRecord {
  return { ref, version: 0, missing: [], decided: 0, held: {}, contributions: {} };
}

function missingUpTo({ version, missing }: SourceRecord, to: number): SourceRecord['missing'] {
  return to === version ? missing : [...missing, { from: version + 1, to }];
}

function addsOf({ ref, added }: PendingAggregate, isNew: (version: number) => boolean): readonly TotalChange[] {
  const changes: TotalChange[] = [];
  for (const [version, { adds }] of added) {
    if (!isNew(version)) continue;
    for (const { model, id, amounts } of adds)
      changes.push({ model, id, ref, kind: 'add', before: undefined, after: amounts });
  }
  return changes;
}

type Deciding = { readonly call: DecidingCall; readonly models: readonly ModelShape[] };

function releasesOf({ held }: SourceRecord, { call, models }: Deciding): readonly WriteOf<'remove'>[] {
  return models.flatMap((model) => {
    const put = new Set(call.puts.filter((each) => each.model.name === model.name).map(({ id }) => id));
    return ownOf(held, model.name, [])
      .filter((id) => !put.has(id))
      .map((id) => ({ kind: 'remove', model, id }) as const);
  });
}

function contributionChanges(source: SourceRecord, { call, models }: Deciding): readonly TotalChange[] {
  const { ref } = source;
  return models.flatMap((model) => {
    const before = new Map(Object.entries(ownOf(source.contributions, model.name, {})));
    const changes: TotalChange[] = [];
    for (const { id, amounts, model: own } of call.contributes) {
      if (own.name !== model.name) continue;
      const last = before.get(id);
      before.delete(id);
      if (last !== undefined && isEqual(last, amounts)) continue;
      changes.push({ model, id, ref, kind: 'contribute', before: last, after: amounts });
    }
    for (const [id, last] of before)
      changes.push({ model, id, ref, kind: 'contribute', before: last, after: undefined });
    return changes;
  });
}

function isEqual(a: Amounts, b: Amounts): boolean {
  const fields = Object.keys(a);
  if (fields.length !== Object.keys(b).length) return false;
  return fields.every((field) => Object.hasOwn(b, field) && a[field] === b[field]);
}

function heldBy({ puts }: DecidingCall): SourceRecord['held'] {
  const byModel = Map.groupBy(puts, ({ model }) => model.name);
  return Object.fromEntries([...byModel].map(([name, own]) => [name, own.map(({ id }) => id).toSorted()]));
}

function contributedBy({ contributes }: DecidingCall): SourceRecord['contributions'] {
  const byModel = Map.groupBy(contributes, ({ model }) => model.name);
  return Object.fromEntries(
    [...byModel].map(([name, own]) => [name, Object.fromEntries(own.map(({ id, amounts }) => [id, amounts]))]),
  );
}

/** What stands under models that the function does not name any more stays as it is. */
function kept<Value>(
  record: Readonly<Record<string, Value>>,
  models: readonly ModelShape[],
): Readonly<Record<string, Value>> {
  const names = new Set(models.map(({ name }) => name));
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
}

function ownOf<Value>(record: Readonly<Record<string, Value>>, key: string, otherwise: Value): Value {
  return Object.hasOwn(record, key) ? (record[key] ?? otherwise) : otherwise;
}

function versionsMissing(ref: RefKey, version: number): Refusal {
  return {
    ref,
    model: '',
    id: '',
    code: 'VERSIONS_MISSING',
    message: `${ref} lacks versions below ${version} in more than ${missingRangesMax} places`,
    isRecoverable: false,
  };
}

/**
 * A version was handled without its call (an operator skipped it), comes again, and stands here before an older one that
 * is new. Which one decides is told by taking the window apart.
 */
function writesCoalesced(ref: RefKey, { version }: DecidingCall): Refusal {
  return {
    ref,
    model: '',
    id: '',
    code: 'WRITES_COALESCED',
    message: `${ref}: version ${version} was handled without being called; the older versions of this window decide alone`,
    isRecoverable: true,
  };
}
