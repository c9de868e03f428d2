import { expect } from 'vitest';
import type { Failure, LedgerChange, LedgerEntry, SequenceKey } from '../../src/failures/failure.ts';
import type { Position } from '../../src/log/position.ts';
import type { LogRecord } from '../../src/log/record.ts';
import type { RefKey } from '../../src/log/ref.ts';
import type { Contract } from './contract.ts';
import { claimed, commitOn, partition, type StoresSubject, scope } from './stores-subject.ts';

function refOf(id: string): RefKey {
  return `eshop.order/(0)/${id}` as RefKey;
}

function sequenceOf(id: string): SequenceKey {
  return `ref:${refOf(id)}` as SequenceKey;
}

function at(offset: number, inPartition = partition): Position {
  return { ...inPartition, offset };
}

const failure: Failure = {
  cause: {
    name: 'TypeError',
    code: '',
    message: 'no "x" 😀',
    stack: 'at a\nat b',
    causes: [{ name: 'E', message: 'm' }],
  },
  isRecoverable: true,
  attempts: 2,
  firstFailedAtMs: 1_000,
  lastFailedAtMs: 2_000,
  nextRetryAtMs: 180_000,
};

const retry = { attempts: failure.attempts, nextRetryAtMs: failure.nextRetryAtMs };

type EntryParts = {
  readonly id: string;
  readonly version: number;
  readonly position: Position;
  readonly failure?: Failure | undefined;
  readonly record?: Partial<LogRecord>;
};

function entry({ id, version, position, failure: own, record = {} }: EntryParts): LedgerEntry {
  return {
    sequence: sequenceOf(id),
    position,
    ref: refOf(id),
    version,
    commitId: `${id}-${version}`,
    record: { ...position, timestamp: 42, key: id, value: `{"version":${version}}`, headers: [], ...record },
    failure: own,
    parkedAtMs: 3_000,
  };
}

function park(each: LedgerEntry): LedgerChange {
  return { kind: 'park', entry: each };
}

const head = entry({ id: 'O-1', version: 4, position: at(10), failure });
const follower = entry({ id: 'O-1', version: 5, position: at(12) });
const other = entry({ id: 'O-2', version: 1, position: at(11), failure: { ...failure, nextRetryAtMs: undefined } });

async function parked(stores: StoresSubject, ...entries: readonly LedgerEntry[]): Promise<void> {
  await commitOn(await claimed(stores), { ledger: entries.map(park) });
}

async function versionsOf({ ledger }: StoresSubject, id: string): Promise<readonly unknown[]> {
  return (await ledger.entries(scope, sequenceOf(id), { limit: 100, bytes: 1_000_000 })).map(({ version }) => version);
}

/** The promises of `FailureLedger`, and of the ledger changes in a commit. */
export const failureLedgerContract: Contract<StoresSubject> = {
  'a clean subscription has no entries, until one is parked': async (stores) => {
    expect(await stores.ledger.membership(scope, partition)).toEqual([]);
    expect(await stores.ledger.entryAt(scope, head.position)).toBeUndefined();
    expect(await stores.ledger.count(scope)).toBe(0);
    await parked(stores, head);
    expect(await stores.ledger.count(scope)).toBe(1);
  },

  'an entry comes back as it was parked': async (stores) => {
    await parked(stores, head, follower, other);
    expect(await stores.ledger.entryAt(scope, head.position)).toEqual(head);
    expect(await stores.ledger.entryAt(scope, follower.position)).toEqual(follower);
    expect(await stores.ledger.entryAt(scope, other.position)).toEqual(other);
    expect(await stores.ledger.entries(scope, sequenceOf('O-1'), { limit: 10, bytes: 1_000_000 })).toEqual([
      head,
      follower,
    ]);
  },

  'the raw record keeps its bytes, headers and nulls': async (stores) => {
    const headers: LogRecord['headers'] = [
      ['a', 'x'],
      ['a', 'y'],
      ['a', undefined],
      ['', 'ü'],
      ['__proto__', ''],
    ];
    const records: readonly Partial<LogRecord>[] = [
      { key: '注文 😀', value: '{"__proto__":1,"a.b":"\u2028"}', headers },
      { key: undefined, value: undefined },
      { key: Buffer.from([0xff]), value: Buffer.from([0x00, 0xff, 0x80]), headers: [['b', Buffer.from([0xfe, 0x00])]] },
      { value: 'x'.repeat(9 * 1024 * 1024) },
    ];
    const entries = records.map((record, n) => entry({ id: `O-${n}`, version: 1, position: at(n), record }));
    await parked(stores, ...entries);
    for (const each of entries) {
      const read = await stores.ledger.entryAt(scope, each.position);
      expect(read && comparable(read.record)).toEqual(comparable(each.record));
    }
  },

  'an entry without a commit has no ref, version or id, and holds its own sequence': async (stores) => {
    const undecodable: LedgerEntry = {
      ...head,
      sequence: 'at:0:10:wow.eshop.order.state' as SequenceKey,
      ref: undefined,
      version: undefined,
      commitId: undefined,
    };
    await parked(stores, undecodable, undecodable);
    expect(await stores.ledger.entryAt(scope, head.position)).toEqual(undecodable);
    expect(await stores.ledger.membership(scope, partition)).toEqual([
      { sequence: undecodable.sequence, entries: 1, retry, isHeadHere: true },
    ]);
  },

  'entries of an aggregate stand in the order of versions, then of positions': async (stores) => {
    const entries = [
      entry({ id: 'O-1', version: 7, position: at(20) }),
      entry({ id: 'O-1', version: 5, position: at(22) }),
      entry({ id: 'O-1', version: 10, position: at(23) }),
      entry({ id: 'O-1', version: 5, position: at(21), failure }),
    ];
    await parked(stores, ...entries);
    const read = await stores.ledger.entries(scope, sequenceOf('O-1'), { limit: 10, bytes: 1_000_000 });
    expect(read.map(({ version, position }) => [version, position.offset])).toEqual([
      [5, 21],
      [5, 22],
      [7, 20],
      [10, 23],
    ]);
    expect(await stores.ledger.membership(scope, partition)).toMatchObject([{ entries: 4, retry }]);
    expect(await stores.ledger.entries(scope, sequenceOf('O-1'), { limit: 2, bytes: 1_000_000 })).toHaveLength(2);
  },

  'behind an undecodable record entries stand in the order of positions': async (stores) => {
    const sequence = 'key:wow.eshop.order.state:O-1' as SequenceKey;
    const first = { ...head, sequence, ref: undefined, version: undefined, commitId: undefined };
    const behind = [9, 2].map((version, n) => ({
      ...entry({ id: 'O-1', version, position: at(11 + n) }),
      sequence,
    }));
    await parked(stores, ...behind.toReversed(), first);
    const read = await stores.ledger.entries(scope, sequence, { limit: 10, bytes: 1_000_000 });
    expect(read.map(({ position }) => position.offset)).toEqual([10, 11, 12]);
    expect(await stores.ledger.membership(scope, partition)).toEqual([
      { sequence, entries: 3, retry, isHeadHere: true },
    ]);
  },

  'membership names the sequences of one partition, with when each head is tried again': async (stores) => {
    const elsewhere = { ...partition, partition: 1 };
    await parked(stores, other, head, follower, entry({ id: 'O-3', version: 1, position: at(5, elsewhere) }));
    const members = await stores.ledger.membership(scope, partition);
    expect(members.toSorted((a, b) => (a.sequence < b.sequence ? -1 : 1))).toEqual([
      { sequence: sequenceOf('O-1'), entries: 2, retry, isHeadHere: true },
      { sequence: sequenceOf('O-2'), entries: 1, retry: { attempts: 2, nextRetryAtMs: undefined }, isHeadHere: true },
    ]);
    expect(await stores.ledger.membership(scope, elsewhere)).toEqual([
      { sequence: sequenceOf('O-3'), entries: 1, retry: undefined, isHeadHere: true },
    ]);
  },

  'what is parked in other partitions alone is told apart from what is parked here': async (stores) => {
    const elsewhere = { ...partition, partition: 1 };
    const spread = entry({ id: 'O-2', version: 2, position: at(6, elsewhere) });
    const there = entry({ id: 'O-3', version: 1, position: at(5, elsewhere) });
    expect(await stores.ledger.elsewhere(scope, partition)).toEqual([]);
    await parked(stores, other, head, spread, there, entry({ id: 'O-3', version: 2, position: at(7, elsewhere) }));
    expect(await stores.ledger.elsewhere(scope, partition)).toEqual([sequenceOf('O-3')]);
    expect(await stores.ledger.elsewhere(scope, elsewhere)).toEqual([sequenceOf('O-1')]);
    const spreadOver = { sequence: sequenceOf('O-2'), entries: 2, retry: { attempts: 2, nextRetryAtMs: undefined } };
    expect(await stores.ledger.membership(scope, partition)).toContainEqual({ ...spreadOver, isHeadHere: true });
    expect(await stores.ledger.membership(scope, elsewhere)).toContainEqual({ ...spreadOver, isHeadHere: false });
    expect(await stores.ledger.elsewhere({ ...scope, generation: 2 }, partition)).toEqual([]);
  },

  'parking what is parked already changes nothing': async (stores) => {
    const owner = await claimed(stores);
    await commitOn(owner, { ledger: [park(head)] });
    await commitOn(owner, { ledger: [park({ ...head, failure: undefined, parkedAtMs: 9_999 }), park(head)] });
    expect(await stores.ledger.entryAt(scope, head.position)).toEqual(head);
    expect(await stores.ledger.count(scope)).toBe(1);
  },

  'another commit at a position that is taken is an error, and nothing is written': async (stores) => {
    const owner = await claimed(stores);
    await commitOn(owner, { offset: 1, ledger: [park(head)] });
    for (const conflicting of [
      { ...head, commitId: 'another' },
      { ...head, version: 99 },
    ]) {
      const ledger = [park(other), park(conflicting)];
      await expect(owner.commit({ offset: 2, ledger })).rejects.toMatchObject({ code: 'LEDGER_CONFLICT' });
    }
    expect(await stores.ledger.count(scope)).toBe(1);
    expect(await stores.checkpoints.read(scope, partition)).toMatchObject({ offset: 1, sequence: 1 });
  },

  'a new failure replaces the old one': async (stores) => {
    const owner = await claimed(stores);
    await commitOn(owner, { ledger: [park(head), park(follower)] });
    const again: Failure = { ...failure, attempts: 3, lastFailedAtMs: 9_000, nextRetryAtMs: undefined };
    await commitOn(owner, {
      ledger: [
        { kind: 'fail', position: head.position, failure: again },
        { kind: 'fail', position: follower.position, failure },
      ],
    });
    expect(await stores.ledger.entryAt(scope, head.position)).toEqual({ ...head, failure: again });
    expect(await stores.ledger.entryAt(scope, follower.position)).toEqual({ ...follower, failure });
  },

  'a failure or removal of what is not in the ledger changes nothing of it': async (stores) => {
    const ledger: LedgerChange[] = [
      park(other),
      { kind: 'fail', position: head.position, failure },
      { kind: 'remove', position: follower.position },
    ];
    await commitOn(await claimed(stores), { offset: 3, ledger });
    expect(await stores.ledger.entryAt(scope, head.position)).toBeUndefined();
    expect(await stores.ledger.count(scope)).toBe(1);
    expect(await stores.checkpoints.read(scope, partition)).toMatchObject({ offset: 3 });
  },

  'entries are read up to a number and a size, one in any case': async (stores) => {
    const value = 'x'.repeat(1_000);
    const entries = [1, 2, 3, 4].map((version) =>
      entry({ id: 'O-1', version, position: at(version), record: { value } }),
    );
    await parked(stores, ...entries);
    const read = async (limit: number, bytes: number) =>
      (await stores.ledger.entries(scope, sequenceOf('O-1'), { limit, bytes })).map(({ version }) => version);
    expect(await read(3, 1_000_000)).toEqual([1, 2, 3]);
    expect(await read(4, 2_500)).toEqual([1, 2]);
    expect(await read(4, 1)).toEqual([1]);
  },

  'what was handled leaves the ledger, in order': async (stores) => {
    const owner = await claimed(stores);
    await commitOn(owner, { ledger: [park(head), park(follower), park(other)] });
    await commitOn(owner, { ledger: [{ kind: 'remove', position: head.position }] });
    expect(await versionsOf(stores, 'O-1')).toEqual([5]);
    expect(await stores.ledger.membership(scope, partition)).toMatchObject([{ retry: undefined }, { entries: 1 }]);
    await commitOn(owner, { ledger: [{ kind: 'remove', position: follower.position }] });
    expect(await versionsOf(stores, 'O-1')).toEqual([]);
    expect(await stores.ledger.count(scope)).toBe(1);
  },

  'nothing is parked under an older epoch': async (stores) => {
    const old = await claimed(stores);
    const current = await claimed(stores);
    expect(await old.commit({ ledger: [park(head)] })).toMatchObject({ kind: 'fenced' });
    expect(await stores.ledger.count(scope)).toBe(0);
    await commitOn(current, { ledger: [park(head)] });
    expect(await old.commit({ ledger: [{ kind: 'remove', position: head.position }] })).toMatchObject({
      kind: 'fenced',
    });
    expect(await stores.ledger.count(scope)).toBe(1);
  },

  'subscriptions and generations have ledgers of their own': async (stores) => {
    await parked(stores, head, follower);
    for (const of of [
      { ...scope, generation: 2 },
      { ...scope, subscription: 'Other.onEvent' },
    ]) {
      expect(await stores.ledger.count(of)).toBe(0);
      expect(await stores.ledger.entryAt(of, head.position)).toBeUndefined();
      expect(await stores.ledger.membership(of, partition)).toEqual([]);
      expect(await stores.ledger.entries(of, head.sequence, { limit: 10, bytes: 1_000_000 })).toEqual([]);
    }
    expect(await stores.ledger.count(scope)).toBe(2);
  },

  'the list shows entries of all subscriptions without their payloads': async (stores) => {
    const second = { subscription: 'Another.onEvent', generation: 1 };
    await parked(stores, follower, other, head);
    await commitOn(await claimed(stores, { of: second }), { ledger: [park(head)] });
    const listed = await stores.ledger.list({}, 10);
    expect(listed.map((each) => [each.scope.subscription, each.position.offset])).toEqual([
      ['Another.onEvent', 10],
      ['Orders.onEvent', 10],
      ['Orders.onEvent', 11],
      ['Orders.onEvent', 12],
    ]);
    const { record, ...facts } = head;
    expect(listed[1]).toEqual({ ...facts, scope, bytes: String(record.key).length + String(record.value).length });
  },

  'the list is filtered by subscription and ref, and bounded': async (stores) => {
    const second = { subscription: 'Another.onEvent', generation: 1 };
    await parked(stores, head, follower, other);
    await commitOn(await claimed(stores, { of: second }), { ledger: [park(head)] });
    const found = async (...[filter, limit = 10]: Parameters<typeof stores.ledger.list> | [object]) =>
      (await stores.ledger.list(filter, limit)).map(({ commitId }) => commitId);
    expect(await found({ subscription: scope.subscription })).toEqual(['O-1-4', 'O-2-1', 'O-1-5']);
    expect(await found({ ref: refOf('O-1') })).toEqual(['O-1-4', 'O-1-4', 'O-1-5']);
    expect(await found({ subscription: scope.subscription, ref: refOf('O-2') })).toEqual(['O-2-1']);
    expect(await found({}, 2)).toHaveLength(2);
  },

  'a reset clears the entries at or after the new start, and keeps those before it': async (stores) => {
    const elsewhere = entry({ id: 'O-3', version: 1, position: at(50, { ...partition, partition: 1 }) });
    await parked(stores, head, other, follower, elsewhere);
    await stores.checkpoints.reset({ ...partition, scope, offset: 11, who: 'ann', why: 'a test' });
    const left = (await stores.ledger.list({}, 10)).map(({ commitId }) => commitId);
    expect(left).toEqual([head.commitId, elsewhere.commitId]);
  },
};

/** Text and bytes are two ways to hold one content, and bytes come in several classes. */
function comparable({ key, value, headers, ...rest }: LogRecord): unknown {
  const bytes = (text: LogRecord['value']) => text && Buffer.from(text).toString('base64');
  return { ...rest, key: bytes(key), value: bytes(value), headers: headers.map(([name, text]) => [name, bytes(text)]) };
}
