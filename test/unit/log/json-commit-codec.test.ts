import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Commit } from '../../../src/log/commit.ts';
import type { Decoded } from '../../../src/log/commit-codec.ts';
import { jsonCommitCodec } from '../../../src/log/json-commit-codec.ts';
import type { LogRecord } from '../../../src/log/record.ts';
import { parseRef } from '../../../src/log/ref.ts';
import { goldenRecords } from '../../support/golden-records.ts';

const codec = jsonCommitCodec();
const exactCodec = jsonCommitCodec({ numbers: 'exact' });
const golden = goldenRecords();

const minimal = {
  id: 'c-1',
  contextName: 'eshop',
  aggregateName: 'order',
  aggregateId: 'order-1',
  version: 1,
  createTime: 1_700_000_000_000,
  body: [{ id: 'e-1', name: 'order_created' }],
};

function recordOf(value: LogRecord['value'], key: LogRecord['key'] = 'order-1'): LogRecord {
  return { topic: 't', partition: 0, offset: 0, timestamp: 0, key, value, headers: [] };
}

const decodeText = (value: string, key?: LogRecord['key']) => codec.decode(recordOf(value, key));
const decode = (value: unknown) => decodeText(JSON.stringify(value));
const utf8 = (text: string) => new TextEncoder().encode(text);

function commitOf(decoded: Decoded): Commit {
  if (decoded.kind !== 'commit') throw new Error(`Not decoded: ${JSON.stringify(decoded)}`);
  return decoded.commit;
}

function reasonOf(decoded: Decoded): string {
  if (decoded.kind !== 'undecodable') throw new Error(`Not refused: ${decoded.kind}`);
  return decoded.reason;
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(text: string): Members {
  return JSON.parse(text) as Members;
}

/** The commit that the JSON says, written down a second time in the plainest way. */
function expectedCommit(json: Members): Members {
  return {
    id: json['id'],
    ref: {
      context: json['contextName'],
      aggregate: json['aggregateName'],
      tenantId: json['tenantId'] ?? '(0)',
      id: json['aggregateId'],
    },
    ownerId: json['ownerId'] ?? '',
    spaceId: json['spaceId'] ?? '',
    commandId: json['commandId'] ?? '',
    requestId: json['requestId'] ?? '',
    version: json['version'],
    createTime: json['createTime'],
    header: json['header'] ?? {},
    events: (json['body'] as readonly Members[]).map((event) => ({
      id: event['id'],
      name: event['name'],
      revision: event['revision'] ?? '0.0.1',
      bodyType: event['bodyType'] ?? '',
      body: event['body'],
    })),
    hasState: (json['state'] ?? undefined) !== undefined,
    state: json['state'] ?? undefined,
    firstOperator: json['firstOperator'] ?? '',
    firstEventTime: json['firstEventTime'] ?? 0,
    tags: json['tags'] ?? {},
    deleted: json['deleted'] ?? false,
    reservations: json['reservations'] ?? undefined,
  };
}

/** The JSON with each number as the text it is written as. */
function withNumberTexts(text: string): Members {
  const toText = (_key: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === 'number' ? source : value;
  return (JSON.parse as (text: string, reviver: typeof toText) => Members)(text, toText);
}

/** A value with each number as its text. */
function numbersAsTexts(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(numbersAsTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, numbersAsTexts(member)]));
}

describe('genuine records', () => {
  test('each one is a commit with exactly what its JSON says', () => {
    expect(golden).toHaveLength(273);
    for (const record of golden) {
      const { refKey, ...commit } = commitOf(codec.decode(record));
      expect(commit).toEqual(expectedCommit(membersOf(record.value)));
      expect(parseRef(refKey)).toEqual(commit.ref);
    }
  });

  test('as bytes they decode as they do as text', () => {
    for (const record of golden) {
      const bytes = { ...record, key: utf8(record.key), value: utf8(record.value) };
      expect(codec.decode(bytes)).toEqual(codec.decode(record));
    }
  });

  test('read exactly, each number in bodies and states keeps its text', () => {
    const spelled: string[] = [];
    for (const record of golden) {
      const { events, state } = commitOf(exactCodec.decode(record));
      const wanted = expectedCommit(withNumberTexts(record.value));
      expect(numbersAsTexts({ events, state })).toEqual({ events: wanted['events'], state: wanted['state'] });
      spelled.push(JSON.stringify({ events, state }));
    }
    // There was something to keep: a decimal whose scale a double forgets.
    expect(spelled.some((text) => /:"\d+\.\d*0"/.test(text))).toBe(true);
  });

  test('read exactly, nothing else changes', () => {
    for (const record of golden) {
      const { events: _events, state: _state, ...envelope } = commitOf(exactCodec.decode(record));
      const { events: _other, state: _otherState, ...wanted } = commitOf(codec.decode(record));
      expect(envelope).toEqual(wanted);
    }
  });
});

test('read exactly, numbers around the events and the state are plain numbers', () => {
  const text = JSON.stringify(minimal).replace(
    '"version":1',
    '"version":1.0,"header":{"n":1.50},"firstEventTime":1.7E3',
  );
  expect(commitOf(exactCodec.decode(recordOf(text)))).toMatchObject({
    version: 1,
    header: { n: '1.5' },
    firstEventTime: 1_700,
  });
});

describe('members', () => {
  test('a record of required members alone has the defaults of the format', () => {
    expect(commitOf(decode(minimal))).toEqual({
      id: 'c-1',
      ref: { context: 'eshop', aggregate: 'order', tenantId: '(0)', id: 'order-1' },
      refKey: 'eshop.order/(0)/order-1',
      ownerId: '',
      spaceId: '',
      commandId: '',
      requestId: '',
      version: 1,
      createTime: 1_700_000_000_000,
      header: {},
      events: [{ id: 'e-1', name: 'order_created', revision: '0.0.1', bodyType: '', body: undefined }],
      hasState: false,
      state: undefined,
      firstOperator: '',
      firstEventTime: 0,
      tags: {},
      deleted: false,
      reservations: undefined,
    });
  });

  test('a null of an optional member counts as missing', () => {
    const optional = [
      'tenantId',
      'ownerId',
      'spaceId',
      'commandId',
      'requestId',
      'header',
      'state',
      'firstOperator',
      'firstEventTime',
      'tags',
      'deleted',
      'reservations',
    ];
    const nulls = Object.fromEntries(optional.map((name) => [name, null]));
    expect(decode({ ...minimal, ...nulls })).toEqual(decode(minimal));
  });

  test('a null inside data stays a null', () => {
    const commit = commitOf(decode({ ...minimal, state: { a: null }, body: [{ id: 'e', name: 'n', body: null }] }));
    expect(commit.state).toEqual({ a: null });
    expect(commit.events[0]?.body).toBeNull();
  });

  test('unknown members do no harm', () => {
    const event = { ...minimal.body[0], extra: 1 };
    expect(decode({ ...minimal, body: [event], extra: { deep: [] }, isPublished: true })).toEqual(decode(minimal));
  });

  test('a state may be any value, false and 0 too', () => {
    for (const state of [false, 0, '', [], {}]) {
      expect(commitOf(decode({ ...minimal, state }))).toMatchObject({ hasState: true, state });
    }
  });

  test('header values that are no texts become texts or are left out', () => {
    const header = { a: 'x', b: 7, c: true, d: null, e: [], f: {} };
    expect(commitOf(decode({ ...minimal, header })).header).toEqual({ a: 'x', b: '7', c: 'true' });
  });

  test('of a repeated header name the last counts', () => {
    const text = JSON.stringify({ ...minimal, header: {} }).replace('"header":{}', '"header":{"a":"1","a":"2"}');
    expect(commitOf(decodeText(text)).header).toEqual({ a: '2' });
  });

  test('reservations are read, missing lists as empty ones', () => {
    const held = [{ namespace: 'brand_name', key: 'Ключ' }];
    expect(commitOf(decode({ ...minimal, reservations: { attempt: 'a-1', held } })).reservations).toEqual({
      attempt: 'a-1',
      held,
      released: [],
    });
  });

  test('a tombstone is told from an empty value', () => {
    expect(codec.decode(recordOf(undefined))).toEqual({ kind: 'tombstone' });
    expect(decodeText('')).toMatchObject({ kind: 'undecodable' });
  });
});

describe('names that objects have by themselves', () => {
  const text = JSON.stringify({ ...minimal, header: 'H', tags: 'T', state: 'S' })
    .replace('"H"', '{"__proto__":"p","constructor":"c"}')
    .replace('"T"', '{"__proto__":["p"]}')
    .replace('"S"', '{"__proto__":{"polluted":1.5},"constructor":2}');

  test.each([
    ['double', codec],
    ['exact', exactCodec],
  ])('survive as data and touch no prototype (%s)', (_name, each) => {
    const commit = commitOf(each.decode(recordOf(text)));
    expect(Object.entries(commit.header)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
    expect(Object.keys(commit.tags)).toEqual(['__proto__']);
    expect(Object.keys(commit.state as object)).toEqual(['__proto__', 'constructor']);
    expect(commit.state).not.toHaveProperty('polluted');
    expect({}).not.toHaveProperty('polluted');
  });

  test('survive in a header that has to be rewritten', () => {
    const mixed = JSON.stringify({ ...minimal, header: 'H' }).replace('"H"', '{"__proto__":"p","n":1}');
    expect(Object.entries(commitOf(decodeText(mixed)).header)).toEqual([
      ['__proto__', 'p'],
      ['n', '1'],
    ]);
  });

  test('as members of the record they change nothing', () => {
    const record = JSON.stringify(minimal).replace('{', '{"__proto__":{"tenantId":"other"},"constructor":1,');
    expect(decodeText(record)).toEqual(decode(minimal));
  });
});

describe('undecodable records', () => {
  test.each([
    [{ ...minimal, id: undefined }, 'id: expected a string, got nothing'],
    [{ ...minimal, contextName: null }, 'contextName: expected a string, got null'],
    [{ ...minimal, aggregateName: [1, 2] }, 'aggregateName: expected a string, got an array of 2'],
    [{ ...minimal, aggregateId: {} }, 'aggregateId: expected a string, got an object'],
    [{ ...minimal, tenantId: 5 }, 'tenantId: expected a string, got 5'],
    [{ ...minimal, version: 'x' }, 'version: expected an integer >= 1, got "x"'],
    [{ ...minimal, version: 0 }, 'version: expected an integer >= 1, got 0'],
    [{ ...minimal, version: 1.5 }, 'version: expected an integer >= 1, got 1.5'],
    [{ ...minimal, version: 2 ** 53 }, 'version: expected an integer >= 1, got 9007199254740992'],
    [{ ...minimal, createTime: undefined }, 'createTime: expected an integer, got nothing'],
    [{ ...minimal, ownerId: false }, 'ownerId: expected a string, got false'],
    [{ ...minimal, spaceId: 1 }, 'spaceId: expected a string, got 1'],
    [{ ...minimal, commandId: 1 }, 'commandId: expected a string, got 1'],
    [{ ...minimal, requestId: 1 }, 'requestId: expected a string, got 1'],
    [{ ...minimal, header: [] }, 'header: expected an object, got an array of 0'],
    [{ ...minimal, body: {} }, 'body: expected an array of events, got an object'],
    [{ ...minimal, body: [] }, 'body: expected at least one event, got none'],
    [{ ...minimal, body: [...minimal.body, null] }, 'body[1]: expected an object, got null'],
    [{ ...minimal, body: [{ name: 'n' }] }, 'body[0].id: expected a string, got nothing'],
    [{ ...minimal, body: [{ id: 'e', name: 3 }] }, 'body[0].name: expected a string, got 3'],
    [{ ...minimal, body: [{ id: 'e', name: 'n', revision: 1 }] }, 'body[0].revision: expected a string, got 1'],
    [{ ...minimal, body: [{ id: 'e', name: 'n', bodyType: 1 }] }, 'body[0].bodyType: expected a string, got 1'],
    [{ ...minimal, firstOperator: 1 }, 'firstOperator: expected a string, got 1'],
    [{ ...minimal, firstEventTime: 'x' }, 'firstEventTime: expected an integer, got "x"'],
    [{ ...minimal, tags: [] }, 'tags: expected an object, got an array of 0'],
    [{ ...minimal, deleted: 'yes' }, 'deleted: expected true or false, got "yes"'],
    [{ ...minimal, reservations: [] }, 'reservations: expected an object, got an array of 0'],
    [{ ...minimal, reservations: {} }, 'reservations.attempt: expected a string, got nothing'],
    [{ ...minimal, reservations: { attempt: 'a', held: {} } }, 'reservations.held: expected an array, got an object'],
    [
      { ...minimal, reservations: { attempt: 'a', released: [1] } },
      'reservations.released[0]: expected an object, got 1',
    ],
    [
      { ...minimal, reservations: { attempt: 'a', held: [{ key: 'k' }] } },
      'reservations.held[0].namespace: expected a string, got nothing',
    ],
    [
      { ...minimal, reservations: { attempt: 'a', held: [{ namespace: 'n', key: '\ud800' }] } },
      'reservations.held[0].key: expected text without lone surrogates, got "\\ud800"',
    ],
    [[minimal], 'value: expected an object, got an array of 1'],
    ['text', 'value: expected an object, got "text"'],
  ])('%j is refused', (value, reason) => {
    expect(decode(value)).toEqual({ kind: 'undecodable', reason, aggregateId: 'order-1' });
    expect(exactCodec.decode(recordOf(JSON.stringify(value)))).toEqual(decode(value));
  });

  test.each(['id', 'contextName', 'aggregateName', 'tenantId', 'aggregateId'])(
    'a lone surrogate in %s is refused',
    (name) => {
      expect(reasonOf(decode({ ...minimal, [name]: 'a\udc00' }))).toBe(
        `${name}: expected text without lone surrogates, got "a\\udc00"`,
      );
    },
  );

  test('a lone surrogate in data is data', () => {
    const commit = commitOf(decode({ ...minimal, requestId: '\ud800', state: { a: '\udc00' } }));
    expect(commit).toMatchObject({ requestId: '\ud800', state: { a: '\udc00' } });
  });

  test('values are cut to a hundred characters', () => {
    expect(reasonOf(decode({ ...minimal, version: 'x'.repeat(500) }))).toBe(
      `version: expected an integer >= 1, got "${'x'.repeat(100)}"`,
    );
  });

  test.each([
    ['{"a" 1}', 'value: expected JSON, broken at character 5'],
    ['{"secret":"swordfish', 'value: expected JSON, broken at character 20'],
    ['[1', 'value: expected JSON, broken at character 2'],
    ['[', 'value: expected JSON, but it ends too early'],
    ['swordfish', 'value: expected JSON'],
    [`{"a":x, "b": "in JSON at position 7 (line 1 column 8)"`, 'value: expected JSON'],
  ])('the broken JSON %j is refused without its payload', (text, reason) => {
    expect(reasonOf(decodeText(text))).toBe(reason);
  });

  test('a byte order mark is not stripped', () => {
    expect(reasonOf(codec.decode(recordOf(utf8(`\ufeff${JSON.stringify(minimal)}`))))).toBe('value: expected JSON');
    const id = '\ufefforder-1';
    expect(
      commitOf(codec.decode(recordOf(utf8(JSON.stringify({ ...minimal, aggregateId: id })), utf8(id)))).ref.id,
    ).toBe(id);
  });

  test('bytes that are not UTF-8 are refused', () => {
    const bytes = utf8(JSON.stringify(minimal));
    bytes[8] = 0xff;
    expect(codec.decode(recordOf(bytes))).toEqual({
      kind: 'undecodable',
      reason: 'value: expected UTF-8 text',
      aggregateId: 'order-1',
    });
  });

  test('a value over the limit is refused before it is read, one at the limit is not', () => {
    const value = JSON.stringify({ ...minimal, ownerId: 'é' });
    const bytesMax = utf8(value).length;
    for (const spelling of [value, utf8(value)]) {
      expect(jsonCommitCodec({ bytesMax }).decode(recordOf(spelling)).kind).toBe('commit');
      expect(reasonOf(jsonCommitCodec({ bytesMax: bytesMax - 1 }).decode(recordOf(spelling)))).toBe(
        `value: expected at most ${bytesMax - 1} bytes, got more`,
      );
    }
  });

  test('nesting deeper than the stack never throws', () => {
    const deep = `${'['.repeat(200_000)}1.5${']'.repeat(200_000)}`;
    const text = JSON.stringify({ ...minimal, state: 'S' }).replace('"S"', deep);
    expect(decodeText(text).kind).toBe('commit');
    expect(reasonOf(exactCodec.decode(recordOf(text)))).toBe('value: nested too deeply');
  });
});

describe('the key of a record', () => {
  const value = JSON.stringify(minimal);

  test('must be the aggregate id, and is what waits behind the record', () => {
    expect(decodeText(value, 'order-2')).toEqual({
      kind: 'undecodable',
      reason: 'key: expected the aggregateId "order-1", got "order-2"',
      aggregateId: 'order-2',
    });
  });

  test('is missing: a mismatch that holds nothing up', () => {
    const { key: _key, ...rest } = recordOf(value);
    expect(codec.decode({ ...rest, key: undefined })).toEqual({
      kind: 'undecodable',
      reason: 'key: expected the aggregateId "order-1", got nothing',
      aggregateId: undefined,
    });
  });

  test.each([[Uint8Array.of(0xff)], ['\ud800']])('that is no text holds nothing up (%j)', (key) => {
    expect(decodeText(value, key)).toEqual({
      kind: 'undecodable',
      reason: 'key: expected UTF-8 text',
      aggregateId: undefined,
    });
  });

  test('may be empty where the aggregate id is', () => {
    expect(commitOf(decodeText(JSON.stringify({ ...minimal, aggregateId: '' }), '')).refKey).toBe('eshop.order/(0)/');
  });
});

describe('any record at all', () => {
  /** What the codec made of a record, beside what the record says; a reason beside the form it should have. */
  function compared(record: LogRecord): { readonly got: unknown; readonly wanted: unknown } {
    exactCodec.decode(record);
    const decoded = codec.decode(record);
    if (decoded.kind === 'undecodable') {
      return { got: /^[\w[\].]+: (expected .{1,400}|nested too deeply)$/.test(decoded.reason), wanted: true };
    }
    if (decoded.kind === 'tombstone') return { got: undefined, wanted: record.value };
    const text = typeof record.value === 'string' ? record.value : new TextDecoder().decode(record.value);
    const { header, refKey, ...commit } = decoded.commit;
    const { header: wantedHeader, ...wanted } = expectedCommit(membersOf(text));
    // Which other header values become texts is told above.
    const isText = ([name]: readonly [string, unknown]) => typeof (wantedHeader as Members)[name] === 'string';
    return {
      got: { commit, parsed: parseRef(refKey), header: Object.entries(header).filter(isText) },
      wanted: { commit: wanted, parsed: commit.ref, header: Object.entries(wantedHeader as Members).filter(isText) },
    };
  }

  const anyGolden = fc.constantFrom(...golden);
  const anyKey = fc.oneof(fc.constant(undefined), fc.string(), fc.uint8Array());

  test('arbitrary bytes and texts never throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array(), fc.string({ unit: 'binary' }), fc.constant(undefined)),
        anyKey,
        (value, key) => {
          const { got, wanted } = compared({ ...recordOf(undefined, key), value });
          expect(got).toEqual(wanted);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('arbitrary JSON never throws', () => {
    fc.assert(
      fc.property(fc.json(), anyKey, (value, key) => {
        const { got, wanted } = compared(recordOf(value, key));
        expect(got).toEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });

  test('genuine records with flipped bytes never throw', () => {
    const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyGolden, flips, (record, changes) => {
        const bytes = utf8(record.value);
        for (const [at, mask] of changes) bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ mask;
        const { got, wanted } = compared({ ...record, value: bytes });
        expect(got).toEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });

  test('genuine records cut short are undecodable', () => {
    fc.assert(
      fc.property(anyGolden, fc.nat(), (record, at) => {
        const value = utf8(record.value).subarray(0, at % record.value.length);
        expect(codec.decode({ ...record, value })).toMatchObject({ kind: 'undecodable', aggregateId: record.key });
      }),
      { numRuns: 300 },
    );
  });

  test('genuine records with members removed, replaced or swapped never throw', () => {
    const anyMember = fc.constantFrom(
      'id',
      'contextName',
      'aggregateName',
      'header',
      'aggregateId',
      'tenantId',
      'ownerId',
      'spaceId',
      'commandId',
      'requestId',
      'version',
      'body',
      'createTime',
      'state',
      'firstOperator',
      'firstEventTime',
      'tags',
      'deleted',
      'reservations',
      '__proto__',
      'constructor',
    );
    const change = fc.oneof(
      fc.record({ kind: fc.constant('remove' as const), member: anyMember }),
      fc.record({ kind: fc.constant('replace' as const), member: anyMember, by: fc.jsonValue() }),
      fc.record({ kind: fc.constant('swap' as const), member: anyMember, other: anyMember }),
    );
    fc.assert(
      fc.property(anyGolden, fc.array(change, { minLength: 1, maxLength: 3 }), (record, changes) => {
        const members = new Map(Object.entries(membersOf(record.value)));
        for (const each of changes) {
          const { member } = each;
          if (each.kind === 'remove') members.delete(member);
          else if (each.kind === 'replace') members.set(member, each.by);
          else {
            const kept = members.get(member);
            members.set(member, members.get(each.other));
            members.set(each.other, kept);
          }
        }
        const { got, wanted } = compared({ ...record, value: JSON.stringify(Object.fromEntries(members)) });
        expect(got).toEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });
});
