import { describe, expect, test } from 'vitest';
import { parseLine } from '../../../../src/log/append/line-record.ts';

function reasonOf(line: string): string | undefined {
  const parsed = parseLine(line);
  return parsed.kind === 'bad' ? parsed.reason : undefined;
}

function recordOf(line: string): unknown {
  const parsed = parseLine(line);
  return parsed.kind === 'record' ? parsed.record : parsed;
}

describe('a line', () => {
  test('that is a bare record becomes the value as it stands', () => {
    const line = ' {"aggregateId": "O-1",  "value": 3, "__proto__": {"topic": "x"}} ';
    expect(recordOf(line)).toMatchObject({ value: line, topic: undefined, key: undefined, timestamp: undefined });
  });

  test('that is an envelope names what it wants', () => {
    const value = '{"aggregateId":"O-1"}';
    const envelope = {
      topic: 't',
      partition: 2,
      offset: 9,
      timestampType: 'CreateTime',
      timestamp: 5,
      key: 'k',
      value,
    };
    expect(recordOf(JSON.stringify(envelope))).toMatchObject({
      topic: 't',
      partition: 2,
      timestamp: 5,
      key: { text: 'k' },
      headers: [],
      value,
    });
  });

  test('that is an envelope may leave all but the value out', () => {
    expect(recordOf('{"value":"{\\"a\\":1}"}')).toMatchObject({
      topic: undefined,
      partition: undefined,
      key: undefined,
      timestamp: undefined,
      value: '{"a":1}',
      content: { a: 1 },
    });
    expect(recordOf('{"value":"no json","topic":null,"partition":null,"timestamp":null}')).toMatchObject({
      topic: undefined,
      value: 'no json',
      content: undefined,
    });
  });

  test('tells a null key and a null value from missing ones', () => {
    expect(recordOf('{"topic":"t","key":null,"value":null}')).toMatchObject({
      key: { text: undefined },
      value: undefined,
    });
  });

  test.each([
    [
      'a list of key and value',
      [
        { key: 'a', value: 'x' },
        { key: 'a', value: null },
      ],
    ],
    ['a list of name and value', [{ name: 'a', value: 'x' }, { name: 'a' }]],
    [
      'a list of pairs',
      [
        ['a', 'x'],
        ['a', null],
      ],
    ],
  ])('takes headers as %s', (_shape, headers) => {
    expect(recordOf(JSON.stringify({ topic: 't', value: '{}', headers }))).toMatchObject({
      headers: [
        ['a', 'x'],
        ['a', undefined],
      ],
    });
  });

  test('takes headers as an object, whatever their names', () => {
    expect(recordOf('{"topic":"t","value":"{}","headers":{"__proto__":"x","b":null}}')).toMatchObject({
      headers: [
        ['__proto__', 'x'],
        ['b', undefined],
      ],
    });
  });

  test.each([
    ['', 'expected JSON, got something else'],
    ['{"a":', 'expected JSON, got something else'],
    ['[1]', 'expected an object, got an array'],
    ['"text"', 'expected an object, got a string'],
    ['null', 'expected an object, got null'],
    ['{"value":{"aggregateId":"O-1"}}', "value: expected the record's text or null, got an object"],
    ['{"value":5}', "value: expected the record's text or null, got a number"],
    ['{"value":"{}","topic":""}', 'topic: expected a name, got a string'],
    ['{"value":"{}","topic":5}', 'topic: expected a name, got a number'],
    ['{"value":"{}","key":5}', 'key: expected text, got a number'],
    ['{"value":"{}","partition":-1}', 'partition: expected an integer from 0 on, got a number'],
    ['{"value":"{}","partition":"1"}', 'partition: expected an integer from 0 on, got a string'],
    ['{"value":"{}","timestamp":1.5}', 'timestamp: expected milliseconds, got a number'],
    ['{"value":"{}","headers":"x"}', 'headers: expected names with texts'],
    ['{"value":"{}","headers":[{"value":"x"}]}', 'headers: expected names with texts'],
    ['{"value":"{}","headers":{"a":1}}', 'headers: expected names with texts'],
    ['{"value":"\\ud800"}', 'expected well-formed text, got a lone surrogate'],
    ['{"value":"{}","key":"\\udc00"}', 'expected well-formed text, got a lone surrogate'],
  ])('%s is bad and says why', (line, reason) => {
    expect(reasonOf(line)).toBe(reason);
  });
});
