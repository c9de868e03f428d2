import { expect } from 'vitest';
import type { Assignment, LogBatch, LogSession, LogSource, PullLimits } from '../../src/log/log-source.ts';
import type { Position } from '../../src/log/position.ts';
import type { LogRecord } from '../../src/log/record.ts';
import type { Contract } from './contract.ts';

export type AppendedRecord = Pick<LogRecord, 'key' | 'value'> & Partial<Pick<LogRecord, 'timestamp' | 'headers'>>;

/** A log that takes records. */
export type LogSubject = {
  readonly log: LogSource;
  /** Appends to a partition of a topic; a new topic has two partitions. */
  readonly append: (topic: string, partition: number, records: readonly AppendedRecord[]) => Promise<void>;
  /** Gives what the promise gives, letting time pass for the log meanwhile. */
  readonly passing: <T>(promise: Promise<T>) => Promise<T>;
};

const topic = 'wow.eshop.order.state';
const never = new AbortController().signal;
const all: PullLimits = { records: 1_000, bytes: 1_000_000, waitMs: 0 };

function numbered(count: number, from = 0): AppendedRecord[] {
  return Array.from({ length: count }, (_, index) => ({ key: `k${from + index}`, value: `{"n":${from + index}}` }));
}

function at(offset: number, partition = 0): Position {
  return { topic, partition, offset };
}

async function withSession<T>({ log }: LogSubject, use: (session: LogSession) => Promise<T>): Promise<T> {
  const session = log.open('Orders.onEvent', [topic]);
  try {
    return await use(session);
  } finally {
    await session.stop();
  }
}

function pulled(subject: LogSubject, from: Position, limits: Partial<PullLimits> = {}): Promise<LogBatch> {
  return withSession(subject, (session) => session.pull(from, { ...all, ...limits }, never));
}

function keysOf({ records }: LogBatch): readonly unknown[] {
  return records.map(({ key }) => key);
}

async function firstAssignment(session: LogSession, signal: AbortSignal): Promise<Assignment | undefined> {
  for await (const assignment of session.assignments(signal)) return assignment;
  return undefined;
}

/** The promises of `LogSource` and its sessions. */
export const logSourceContract: Contract<LogSubject> = {
  'a topic has no partitions until it exists': async ({ log, append }) => {
    expect((await log.describe(topic)).partitions).toEqual([]);
    expect([...(await log.offsetsAt(topic, 0))]).toEqual([]);
    await append(topic, 0, numbered(3));
    expect((await log.describe(topic)).partitions).toEqual([
      { partition: 0, low: 0, end: 3 },
      { partition: 1, low: 0, end: 0 },
    ]);
  },

  'the identity of the log stays the same while it grows': async ({ log, append }) => {
    await append(topic, 0, numbered(1));
    const { identity } = await log.describe(topic);
    expect(identity).not.toBe('');
    await append(topic, 0, numbered(1));
    expect(await log.describe(topic)).toMatchObject({ topic, identity, partitions: [{ end: 2 }, { end: 0 }] });
  },

  'records come back in order, each as it was appended': async (subject) => {
    const contents: readonly Omit<LogRecord, keyof Position>[] = [
      { key: 'O-1', value: '{"a":1}', headers: [], timestamp: 5 },
      { key: '注文-😀/%', value: '{"__proto__":{"x":"\u2028 \\u0000"}}', headers: [], timestamp: 4 },
      {
        key: '',
        value: '',
        headers: [
          ['a', 'x'],
          ['a', 'y'],
          ['', ''],
          ['a', undefined],
        ],
        timestamp: 9,
      },
      { key: undefined, value: undefined, headers: [['__proto__', 'z']], timestamp: 0 },
      { key: 'with\0nul', value: 'also\0here', headers: [], timestamp: 1 },
      { key: 'not utf-8', value: Buffer.from([0xff, 0x00, 0x80]), headers: [['b', Buffer.from([0xfe])]], timestamp: 2 },
    ];
    const records = contents.map((content, offset): LogRecord => ({ ...at(offset), ...content }));
    await subject.append(topic, 0, records);
    const batch = await pulled(subject, at(0));
    expect(batch).toMatchObject({ topic, partition: 0, nextOffset: records.length, low: 0, end: records.length });
    expect(batch.records.map(comparable)).toEqual(records.map(comparable));
  },

  'batches follow each other without gap or overlap': async (subject) => {
    await subject.append(topic, 1, numbered(10));
    const keys: unknown[] = [];
    let offset = 0;
    for (let pulls = 0; offset < 10 && pulls < 20; pulls += 1) {
      const batch = await pulled(subject, at(offset, 1), { records: 3 });
      expect(batch.records.length).toBeLessThanOrEqual(3);
      keys.push(...keysOf(batch));
      offset = batch.nextOffset;
    }
    expect(keys).toEqual(numbered(10).map(({ key }) => key));
  },

  'a batch holds about the bytes asked for, and at least one record': async (subject) => {
    const value = JSON.stringify({ text: 'x'.repeat(1_000) });
    await subject.append(
      topic,
      0,
      [1, 2, 3, 4, 5, 6].map((n) => ({ key: `k${n}`, value })),
    );
    expect((await pulled(subject, at(0), { bytes: 1 })).records).toHaveLength(1);
    const { records, nextOffset } = await pulled(subject, at(0), { bytes: 3_000 });
    expect(records.length).toBeGreaterThanOrEqual(2);
    expect(records.length).toBeLessThanOrEqual(3);
    expect(nextOffset).toBe(records.length);
  },

  'the end of the log answers with nothing, at once when asked not to wait': async (subject) => {
    await subject.append(topic, 0, numbered(2));
    expect(await pulled(subject, at(2))).toMatchObject({ records: [], nextOffset: 2, low: 0, end: 2 });
    expect(await pulled(subject, at(0, 1))).toMatchObject({ records: [], nextOffset: 0, low: 0, end: 0 });
    expect(keysOf(await pulled(subject, at(1)))).toEqual(['k1']);
  },

  'an offset outside of the log is an error, never moved to where records are': async (subject) => {
    await subject.append(topic, 0, numbered(2));
    await expect(pulled(subject, at(3))).rejects.toMatchObject({ code: 'OFFSET_OUT_OF_RANGE' });
    await expect(pulled(subject, at(-1))).rejects.toMatchObject({ code: 'OFFSET_OUT_OF_RANGE' });
  },

  'a waiting pull gets what is appended meanwhile': async (subject) => {
    await subject.append(topic, 0, numbered(1));
    await withSession(subject, async (session) => {
      const waiting = session.pull(at(1), { ...all, waitMs: 600_000 }, never);
      await subject.append(topic, 0, numbered(1, 1));
      expect(keysOf(await waiting)).toEqual(['k1']);
    });
  },

  'a pull that waits in vain answers with nothing when its time is over': async (subject) => {
    await subject.append(topic, 0, numbered(1));
    await withSession(subject, async (session) => {
      const batch = await subject.passing(session.pull(at(1), { ...all, waitMs: 5 }, never));
      expect(batch).toMatchObject({ records: [], nextOffset: 1, end: 1 });
      expect(keysOf(await session.pull(at(0), all, never))).toEqual(['k0']);
    });
  },

  'a waiting pull ends on abort, and when the session stops': async (subject) => {
    await subject.append(topic, 0, numbered(1));
    const aborting = new AbortController();
    await withSession(subject, async (session) => {
      const one = session.pull(at(1), { ...all, waitMs: 600_000 }, aborting.signal);
      const two = session.pull(at(0, 1), { ...all, waitMs: 600_000 }, never);
      expect(await Promise.race([one, two, pulled(subject, at(0))])).toMatchObject({
        nextOffset: 1,
        records: [{ key: 'k0' }],
      });
      aborting.abort();
      expect(await one).toMatchObject({ records: [], nextOffset: 1 });
      await session.stop();
      await session.stop();
      expect(await two).toMatchObject({ records: [], nextOffset: 0, partition: 1 });
    });
  },

  'an instant is the lowest offset stamped at or after it, although stamps go back': async ({ log, append }) => {
    const stamps = [10, 30, 20, 20, 50, 40];
    await append(
      topic,
      0,
      stamps.map((timestamp) => ({ key: 'k', value: '{}', timestamp })),
    );
    const found = [];
    for (const instant of [0, 10, 11, 30, 31, 50, 51]) found.push((await log.offsetsAt(topic, instant)).get(0));
    expect(found).toEqual([0, 0, 1, 1, 4, 4, 6]);
    expect((await log.offsetsAt(topic, 10)).get(1)).toBe(0);
  },

  'one record can be read on demand': async ({ log, append }) => {
    await append(topic, 1, numbered(3));
    expect(await log.readAt(at(1, 1))).toMatchObject({ ...at(1, 1), key: 'k1', value: '{"n":1}' });
    for (const missing of [at(3, 1), at(0), at(-1, 1), { ...at(0), topic: 'another' }, at(0, 7)]) {
      expect(await log.readAt(missing)).toBeUndefined();
    }
  },

  'the first assignment is what is owned at the start': async (subject) => {
    await subject.append(topic, 0, numbered(1));
    await withSession(subject, async (session) => {
      expect(await firstAssignment(session, never)).toEqual({
        assigned: [
          { topic, partition: 0 },
          { topic, partition: 1 },
        ],
        lost: [],
      });
    });
  },

  'a pull of a session that was stopped is an outage, not an answer': async (subject) => {
    await subject.append(topic, 0, numbered(1));
    const session = subject.log.open('Orders.onEvent', [topic]);
    await session.stop();
    await expect(session.pull(at(0), all, never)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  },

  'assignments end on abort, and when the session stops': async (subject) => {
    await subject.append(topic, 0, numbered(1));
    for (const end of ['abort', 'stop']) {
      await withSession(subject, async (session) => {
        const aborting = new AbortController();
        const assignments = session.assignments(aborting.signal)[Symbol.asyncIterator]();
        expect(await assignments.next()).toMatchObject({ done: false, value: { lost: [] } });
        const next = assignments.next();
        if (end === 'abort') aborting.abort();
        else await session.stop();
        expect(await next).toMatchObject({ done: true });
      });
    }
  },

  'sessions read independently of each other, and of positions that are mirrored': async (subject) => {
    await subject.append(topic, 0, numbered(4));
    await withSession(subject, async (one) => {
      expect(keysOf(await one.pull(at(0), { ...all, records: 2 }, never))).toEqual(['k0', 'k1']);
      subject.log.mirror('Orders.onEvent', at(4));
      expect(keysOf(await pulled(subject, at(1)))).toEqual(['k1', 'k2', 'k3']);
      expect(keysOf(await one.pull(at(2), all, never))).toEqual(['k2', 'k3']);
    });
  },
};

/** Text and bytes are two ways to hold one content, and bytes come in several classes. */
function comparable({ key, value, headers, ...rest }: LogRecord): unknown {
  const bytes = (text: LogRecord['value']) => text && Buffer.from(text).toString('hex');
  return { ...rest, key: bytes(key), value: bytes(value), headers: headers.map(([name, text]) => [name, bytes(text)]) };
}
