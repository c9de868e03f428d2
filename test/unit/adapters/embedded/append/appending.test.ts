import { describe, expect, test } from 'vitest';
import { AppendError, type EmbeddedFile, openEmbedded } from '../../../../../src/adapters/embedded/index.ts';
import type { LogRecord } from '../../../../../src/log/record.ts';
import { goldenRecords } from '../../../../support/golden-records.ts';

type CommitParts = { readonly id?: string; readonly version?: number; readonly commitId?: string };

function commit({ id = 'O-1', version = 1, commitId = `${id}-${version}` }: CommitParts = {}) {
  return {
    id: commitId,
    contextName: 'eshop',
    aggregateName: 'order',
    aggregateId: id,
    version,
    createTime: 1_000 + version,
    body: [{ id: 'e', name: 'order_changed', bodyType: 'b', body: {} }],
    state: { id, version },
  };
}

function line(parts: CommitParts = {}): string {
  return JSON.stringify(commit(parts));
}

function lines(count: number, id = 'O-1', from = 1): string[] {
  return Array.from({ length: count }, (_, n) => line({ id, version: from + n }));
}

const stateTopic = 'wow.eshop.order.state';

function inMemory(): Promise<EmbeddedFile> {
  return openEmbedded({ file: ':memory:', role: 'follower', clock: { nowMs: () => 77 } });
}

async function stored(file: EmbeddedFile, topic = stateTopic): Promise<LogRecord[]> {
  const session = file.log.open('test', [topic]);
  const records: LogRecord[] = [];
  for (const { partition } of (await file.log.describe(topic)).partitions) {
    const limits = { records: 100_000, bytes: 1e9, waitMs: 0 };
    const batch = await session.pull({ topic, partition, offset: 0 }, limits, new AbortController().signal);
    records.push(...batch.records);
  }
  return records;
}

async function errorOf(promise: Promise<unknown>): Promise<AppendError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppendError)) throw new Error('expected an AppendError', { cause: error });
  return error;
}

describe('appending in strict order', () => {
  test('stores bare commits byte for byte, under their id and time, on the topic of their kind', async () => {
    await using file = await inMemory();
    const text = `  ${line()} `;
    const { state: _state, ...withoutState } = commit({ id: 'O-2' });
    const result = await file.append([text, JSON.stringify(withoutState)]);
    expect(result).toMatchObject({ lines: 2, appended: 2, repeated: 0 });
    expect(await stored(file)).toMatchObject([{ key: 'O-1', value: text, timestamp: 1_001, headers: [] }]);
    expect(await stored(file, 'wow.eshop.order.event')).toMatchObject([{ key: 'O-2', timestamp: 1_001 }]);
    expect(result.last).toMatchObject({ topic: 'wow.eshop.order.event', offset: 0 });
  });

  test('stores an envelope as it says, but places it by its key', async () => {
    await using file = await inMemory();
    const envelope = { topic: 'mine', timestamp: 5, headers: [['a', 'x']], value: line(), partition: 3 };
    await file.append([JSON.stringify(envelope)]);
    await file.append([line()]);
    const [record] = await stored(file, 'mine');
    const [bare] = await stored(file);
    expect(record).toMatchObject({ key: 'O-1', value: line(), timestamp: 5, headers: [['a', 'x']] });
    expect(record?.partition).toBe(bare?.partition);
  });

  test('asks where commits go that name no topic', async () => {
    await using file = await inMemory();
    const asked: unknown[] = [];
    const topicOf = (question: object) => {
      asked.push(question);
      return asked.length === 1 ? 'chosen' : undefined;
    };
    await file.append([line({ id: 'A' }), line({ id: 'B' })], { topicOf });
    expect(asked).toEqual([1, 2].map(() => ({ context: 'eshop', aggregate: 'order', hasState: true })));
    expect(await stored(file, 'chosen')).toMatchObject([{ key: 'A' }]);
    expect(await stored(file)).toMatchObject([{ key: 'B' }]);
  });

  test('takes the same commits again as repeated and stores nothing', async () => {
    await using file = await inMemory();
    const input = lines(3);
    const first = await file.append(input);
    expect(await file.append([...input, line({ version: 4 })])).toMatchObject({ appended: 1, repeated: 3, lines: 4 });
    expect(await file.append([input[2] ?? ''])).toEqual({ lines: 1, appended: 0, repeated: 1, last: first.last });
    expect(await stored(file)).toHaveLength(4);
  });

  test('tells of a repeated commit where it stands, wherever its key would lead', async () => {
    await using file = await inMemory();
    const placed = [0, 1, 2, 3].map((partition) =>
      JSON.stringify({ partition, value: line({ id: `P-${partition}` }) }),
    );
    for (const [partition, each] of placed.entries()) {
      const { last } = await file.append([each], { asIs: true });
      expect(last).toMatchObject({ partition });
      expect(await file.append([line({ id: `P-${partition}` })])).toMatchObject({ repeated: 1, last });
    }
  });

  test('refuses another commit for a version that is there', async () => {
    await using file = await inMemory();
    await file.append(lines(3));
    const error = await errorOf(file.append([line({ version: 4 }), line({ version: 2, commitId: 'other' })]));
    expect(error).toMatchObject({ code: 'VERSION_CONFLICT', line: 2, lastStoredLine: 0 });
    expect(error.message).toBe(
      'Line 2: eshop.order/(0)/O-1 has another commit at version 2 already; nothing was stored.',
    );
    expect(await stored(file)).toHaveLength(3);
    expect(await file.append([line({ version: 4 })])).toMatchObject({ appended: 1 });
  });

  test('refuses a gap and names the version it expected', async () => {
    await using file = await inMemory();
    const error = await errorOf(file.append([...lines(2), line({ version: 4 })]));
    expect(error).toMatchObject({ code: 'VERSION_GAP', line: 3, details: { expected: 3, got: 4 } });
    expect(error.message).toContain('expected version 3, got 4');
    expect(await errorOf(file.append([line({ version: 2 })]))).toMatchObject({ details: { expected: 1, got: 2 } });
    expect(await stored(file)).toEqual([]);
  });

  test('counts the versions of an aggregate by topic and tenant', async () => {
    await using file = await inMemory();
    const tenant = JSON.stringify({ ...commit(), tenantId: 't2', id: 'other' });
    const elsewhere = JSON.stringify({ topic: 'elsewhere', value: line({ commitId: 'third' }) });
    expect(await file.append([line(), tenant, elsewhere])).toMatchObject({ appended: 3 });
  });

  test('skips blank lines, which count, and takes a byte order mark and carriage returns', async () => {
    await using file = await inMemory();
    const input = [`\uFEFF${line()}\r`, '', '  \r', `${line({ version: 2 })}\r`, '{'];
    expect(await errorOf(file.append(input))).toMatchObject({ code: 'BAD_RECORD', line: 5 });
    expect(await file.append([...input.slice(0, 4), ''])).toMatchObject({ lines: 5, appended: 2 });
    expect((await stored(file)).map(({ value }) => value)).toEqual([line(), line({ version: 2 })]);
  });

  test.each([
    ['no commit', '{"contextName":"eshop"}', 'id: expected a string'],
    ['a tombstone', '{"topic":"t","key":"O-1","value":null}', 'a null value is no commit'],
    ['another key', JSON.stringify({ key: 'X', value: line() }), 'key: expected the aggregateId "O-1"'],
    ['a null key', JSON.stringify({ key: null, value: line() }), 'key: expected the aggregateId "O-1"'],
    ['an object as value', JSON.stringify({ value: commit() }), "value: expected the record's text or null"],
  ])('refuses %s and says where and why', async (_what, bad, reason) => {
    await using file = await inMemory();
    const error = await errorOf(file.append([line(), bad]));
    expect(error).toMatchObject({ code: 'BAD_RECORD', line: 2, lastStoredLine: 0 });
    expect(error.message).toContain(`Line 2: ${reason}`);
    expect(error.hint).toBeDefined();
    expect(await stored(file)).toEqual([]);
  });

  test('gives a commit its position, and the first one to whoever appends it again', async () => {
    await using file = await inMemory();
    const first = await file.appendCommit(commit());
    const second = await file.appendCommit(commit({ version: 2 }));
    expect([first.offset, second.offset]).toEqual([0, 1]);
    expect(await file.appendCommit(commit())).toEqual(first);
    expect(await file.log.readAt(second)).toMatchObject({ value: line({ version: 2 }) });
    await expect(file.appendCommit(commit({ version: 9 }))).rejects.toMatchObject({ code: 'VERSION_GAP' });
  });
});

describe('appending a long input', () => {
  async function* counted(count: number, last?: string): AsyncGenerator<string> {
    yield* lines(count);
    if (last !== undefined) yield last;
  }

  test('of 10,000 lines stores all or nothing', async () => {
    await using file = await inMemory();
    const error = await errorOf(file.append(counted(9_999, '{')));
    expect(error).toMatchObject({ line: 10_000, lastStoredLine: 0 });
    expect(await stored(file)).toEqual([]);
    const progress: number[] = [];
    await file.append(counted(10_000), { onProgress: ({ lines: done }) => progress.push(done) });
    expect(progress).toEqual([10_000]);
  }, 20_000);

  test('stores it in pieces, tells of each, and an error names the last stored line', async () => {
    await using file = await inMemory();
    const progress: number[] = [];
    const error = await errorOf(
      file.append(counted(16_000, 'no json'), { onProgress: ({ appended }) => progress.push(appended) }),
    );
    expect(error).toMatchObject({ code: 'BAD_RECORD', line: 16_001, lastStoredLine: 15_000 });
    expect(error.message).toContain('everything up to line 15000 is stored');
    expect(progress).toEqual([10_000, 15_000]);
    expect(await stored(file)).toHaveLength(15_000);
    expect(await file.append(counted(16_000))).toMatchObject({ appended: 1_000, repeated: 15_000, lines: 16_000 });
  }, 20_000);

  test('stops on abort and says how far it came', async () => {
    await using file = await inMemory();
    const aborting = new AbortController();
    const result = await file.append(counted(14_000), {
      signal: aborting.signal,
      onProgress: () => aborting.abort(),
    });
    expect(result).toMatchObject({ lines: 10_000, appended: 10_000 });
    expect(await stored(file)).toHaveLength(10_000);
  }, 20_000);
});

describe('mirroring a log as it is', () => {
  const asIs = { asIs: true };

  test('keeps gaps, repeats, tombstones, undecodable values and keys that do not fit', async () => {
    await using file = await inMemory();
    const inPlace = (more: object) =>
      JSON.stringify({ topic: stateTopic, partition: 1, timestamp: 3, key: 'O-1', ...more });
    const input = [
      line({ version: 5 }),
      line({ version: 5 }),
      line({ version: 2 }),
      inPlace({ value: null }),
      inPlace({ value: 'no json' }),
      inPlace({ key: null, value: '{}' }),
      inPlace({ value: '{"a":"\\ud800"}' }),
    ];
    expect(await file.append(input, asIs)).toMatchObject({ lines: 7, appended: 7, repeated: 0 });
    const records = await stored(file);
    expect(records.filter(({ partition }) => partition === 1).map(({ key, value }) => [key, value])).toEqual([
      ['O-1', undefined],
      ['O-1', 'no json'],
      [undefined, '{}'],
      ['O-1', '{"a":"\\ud800"}'],
    ]);
    expect(records).toHaveLength(7);
  });

  test('takes the wished partition where the topic has it, else the one of the key', async () => {
    await using file = await inMemory();
    const wished = (partition: number) => JSON.stringify({ topic: 't', partition, key: 'O-1', value: line() });
    await file.append([wished(0), wished(3), wished(4)], asIs);
    await file.append([JSON.stringify({ topic: 't', key: 'O-1', value: line() })], asIs);
    const partitions = (await stored(file, 't')).map(({ partition }) => partition);
    const byKey = (await file.appendCommit(commit())).partition;
    const ascending = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);
    expect(ascending(partitions)).toEqual(ascending([0, 3, byKey, byKey]));
  });

  test('stamps what has no time of its own with the clock', async () => {
    await using file = await inMemory();
    await file.append([JSON.stringify({ topic: 't', key: 'k', value: 'x' }), '{"topic":"t","value":null}'], asIs);
    expect((await stored(file, 't')).map(({ timestamp }) => timestamp)).toEqual([77, 77]);
  });

  test.each([
    ['what is no JSON', '{', 'expected JSON'],
    ['what is no object', '[]', 'expected an object'],
    ['a value whose topic cannot be told', '{"value":"x"}', 'topic: expected a name'],
    ['a bare record whose topic cannot be told', '{"aggregateId":"O-1"}', 'topic: expected a name'],
    [
      'a key that is no text',
      String.raw`{"contextName":"a","aggregateName":"b","aggregateId":"\ud800"}`,
      'lone surrogate',
    ],
    [
      'a topic that is no text',
      String.raw`{"contextName":"\ud800","aggregateName":"b","aggregateId":"1"}`,
      'topic: expected a name',
    ],
  ])('still refuses %s', async (_what, bad, reason) => {
    await using file = await inMemory();
    const error = await errorOf(file.append([line(), bad], asIs));
    expect(error).toMatchObject({ code: 'BAD_RECORD', line: 2 });
    expect(error.message).toContain(reason);
  });

  test('lets strict appending go on after the highest version', async () => {
    await using file = await inMemory();
    await file.append([line({ version: 3 }), line({ version: 1 })], asIs);
    expect(await file.append([line({ version: 3 }), line({ version: 4 })])).toMatchObject({ appended: 1, repeated: 1 });
    expect(await errorOf(file.append([line({ version: 2 })]))).toMatchObject({ code: 'VERSION_GAP' });
  });

  test('keeps every golden record byte for byte', async () => {
    await using file = await inMemory();
    const golden = goldenRecords();
    const byPlace = golden.toSorted((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition);
    await file.append(
      byPlace.map((record) => JSON.stringify(record)),
      asIs,
    );
    const topics = [...new Set(golden.map(({ topic }) => topic))];
    const read = await Promise.all(topics.map((topic) => stored(file, topic)));
    const facts = ({ topic, partition, key, value, timestamp }: LogRecord) => [topic, partition, timestamp, key, value];
    const inOrder = (records: readonly LogRecord[]) =>
      records.toSorted((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition).map(facts);
    expect(inOrder(read.flat())).toEqual(inOrder(byPlace));
    expect(golden).toHaveLength(273);
  });
});

describe('records of another log', () => {
  test('are stored all or none', async () => {
    await using file = await inMemory();
    const record = { topic: 't', key: 'k', value: 'x', headers: [], timestamp: 1 };
    const broken = { ...record, value: '\ud800' };
    await expect(file.appendRecords([record, broken])).rejects.toMatchObject({ code: 'ASSERTION_FAILED' });
    expect(await stored(file, 't')).toEqual([]);
    expect(await file.appendRecords([record, { ...record, key: Buffer.from('k') }])).toHaveLength(2);
    const [one, two] = await stored(file, 't');
    expect(one?.partition).toBe(two?.partition);
  });
});
