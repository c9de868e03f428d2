import type { RecordHeader, RecordText } from '../record.ts';

/** A line as it was read, before topic, key and time are settled. */
export type LineRecord = {
  readonly topic: string | undefined;
  readonly partition: number | undefined;
  /** `undefined`: not said; the aggregate's id then. */
  readonly key: { readonly text: RecordText } | undefined;
  readonly headers: readonly RecordHeader[];
  readonly timestamp: number | undefined;
  readonly value: string | undefined;
  /** The value as JSON, if it is JSON at all and something has to be taken out of it. */
  readonly content: unknown;
};

export type ParsedLine =
  | { readonly kind: 'record'; readonly record: LineRecord }
  | { readonly kind: 'bad'; readonly reason: string };

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a line: a bare commit record, which becomes the record's value as it stands, or an envelope
 * `{topic?, partition?, key?, headers?, timestamp?, value}` (an object with `value` and without `aggregateId`), whose
 * other members are ignored. Pure; says what is wrong instead of throwing.
 */
export function parseLine(line: string): ParsedLine {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch (error) {
    return bad(`expected JSON, got ${error instanceof SyntaxError ? 'something else' : 'nesting too deep'}`);
  }
  if (!isObject(parsed)) return bad(`expected an object, got ${nameOf(parsed)}`);
  if (!line.isWellFormed()) return bad('expected well-formed text, got a lone surrogate');
  if (Object.hasOwn(parsed, 'value') && !Object.hasOwn(parsed, 'aggregateId')) return parseEnvelope(parsed);
  const record = { topic: undefined, partition: undefined, key: undefined, headers: [], timestamp: undefined };
  return { kind: 'record', record: { ...record, value: line, content: parsed } };
}

function parseEnvelope(envelope: Members): ParsedLine {
  const { topic, partition, key, timestamp, value } = envelope;
  if (topic !== undefined && topic !== null && (typeof topic !== 'string' || topic === '')) {
    return bad(`topic: expected a name, got ${nameOf(topic)}`);
  }
  if (!isMissing(partition) && !isCount(partition))
    return bad(`partition: expected an integer from 0 on, got ${nameOf(partition)}`);
  if (!isMissing(key) && typeof key !== 'string') return bad(`key: expected text, got ${nameOf(key)}`);
  if (!isMissing(timestamp) && !isCount(timestamp)) {
    return bad(`timestamp: expected milliseconds, got ${nameOf(timestamp)}`);
  }
  if (value !== null && typeof value !== 'string') {
    return bad(`value: expected the record's text or null, got ${nameOf(value)}`);
  }
  for (const text of [topic, key, value]) {
    if (typeof text === 'string' && !text.isWellFormed()) return bad('expected well-formed text, got a lone surrogate');
  }
  const headers = parseHeaders(envelope['headers']);
  if (headers === undefined) return bad('headers: expected names with texts');
  const isComplete = !isMissing(topic) && key !== undefined && !isMissing(timestamp);
  return {
    kind: 'record',
    record: {
      topic: topic ?? undefined,
      partition: partition ?? undefined,
      key: key === undefined ? undefined : { text: key ?? undefined },
      headers,
      timestamp: timestamp ?? undefined,
      value: value ?? undefined,
      content: value === null || isComplete ? undefined : jsonOf(value),
    },
  };
}

/** A list of `{key | name, value}` or `[name, value]`, or an object. Names may repeat in a list. */
function parseHeaders(headers: unknown): readonly RecordHeader[] | undefined {
  if (isMissing(headers)) return [];
  if (!isObject(headers) && !Array.isArray(headers)) return undefined;
  const pairs = Array.isArray(headers) ? headers.map(toPair) : Object.entries(headers);
  const parsed: RecordHeader[] = [];
  for (const [name, value] of pairs) {
    if (typeof name !== 'string' || !name.isWellFormed()) return undefined;
    if (!isMissing(value) && (typeof value !== 'string' || !value.isWellFormed())) return undefined;
    parsed.push([name, value ?? undefined]);
  }
  return parsed;
}

function toPair(header: unknown): readonly [unknown, unknown] {
  if (Array.isArray(header)) return [header[0], header[1]];
  if (!isObject(header)) return [undefined, undefined];
  return [header['key'] ?? header['name'], header['value']];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function bad(reason: string): ParsedLine {
  return { kind: 'bad', reason };
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
