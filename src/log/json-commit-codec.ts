import type { Commit, CommitReservations, CommittedEvent } from './commit.ts';
import type { CommitCodec, Decoded } from './commit-codec.ts';
import { type CommitRecord, expected, problemOf } from './commit-record.ts';
import { parseExact } from './exact-numbers.ts';
import type { LogRecord, RecordText } from './record.ts';
import { isLongerThan, wellFormedText } from './record-text.ts';
import { refOf } from './ref.ts';

export type JsonCommitCodecOptions = {
  /**
   * `double` (default): numbers are JavaScript's. `exact`: in event bodies and states integers beyond 2^53 are bigints, and
   * what is written with a fraction, an exponent or as `-0` stays the text it is (so do integers of over 10,000 digits).
   */
  readonly numbers?: 'double' | 'exact';
  /** A longer value is undecodable; default 16 MiB. */
  readonly bytesMax?: number;
};

/**
 * Reads commit records in JSON. Missing members (null counts as missing, but in bodies and tags) have the defaults of the
 * record format; unknown members are ignored; of a repeated member the last counts. Header values that are numbers or
 * booleans become their text, nulls, arrays and objects are left out. Reasons name path and finding, never payloads.
 */
export function jsonCommitCodec(options: JsonCommitCodecOptions = {}): CommitCodec {
  const { numbers = 'double', bytesMax = 16 * 1024 * 1024 } = options;
  return { decode: (record) => decode(record, { isExact: numbers === 'exact', bytesMax }) };
}

type Limits = { readonly isExact: boolean; readonly bytesMax: number };

function decode({ key, value }: LogRecord, { isExact, bytesMax }: Limits): Decoded {
  if (value === undefined) return { kind: 'tombstone' };
  const keyText = key === undefined ? undefined : wellFormedText(key);

  if (isLongerThan(bytesMax, value)) return undecodable(`value: expected at most ${bytesMax} bytes, got more`, keyText);
  // What a log keeps as text counts as data as it is: a lone surrogate matters only in identities, which are checked below.
  const text = typeof value === 'string' ? value : wellFormedText(value);
  if (text === undefined) return undecodable('value: expected UTF-8 text', keyText);
  let parsed: unknown;
  let data: unknown;
  try {
    parsed = JSON.parse(text);
    // Only bodies and states are read exactly, and both readings have one shape.
    data = isExact ? parseExact(text, parsed) : parsed;
  } catch (error) {
    return undecodable(syntaxProblem(error), keyText);
  }
  const problem = problemOf(parsed);
  if (problem !== undefined) return undecodable(problem, keyText);
  const record = parsed as CommitRecord;
  if (keyText !== record.aggregateId) return undecodable(keyProblem(key, keyText, record.aggregateId), keyText);
  return { kind: 'commit', commit: toCommit(record, data as CommitRecord) };
}

function undecodable(reason: string, aggregateId: string | undefined): Decoded {
  return { kind: 'undecodable', reason, aggregateId };
}

/** What V8 says of the place, without the piece of the payload that it may quote. */
function syntaxProblem(error: unknown): string {
  if (error instanceof RangeError) return 'value: nested too deeply';
  const message = error instanceof Error ? error.message : '';
  if (message === 'Unexpected end of JSON input') return 'value: expected JSON, but it ends too early';
  const [, position] = / at position (\d+) \(line \d+ column \d+\)$/.exec(message) ?? [];
  return `value: expected JSON${position === undefined ? '' : `, broken at character ${position}`}`;
}

function keyProblem(key: RecordText, text: string | undefined, aggregateId: string): string {
  if (key !== undefined && text === undefined) return 'key: expected UTF-8 text';
  return expected('key', `the aggregateId ${JSON.stringify(aggregateId.slice(0, 100))}`, text);
}

function toCommit(record: CommitRecord, data: CommitRecord): Commit {
  const ref = {
    context: record.contextName,
    aggregate: record.aggregateName,
    tenantId: record.tenantId ?? '(0)',
    id: record.aggregateId,
  };
  const hasState = data.state !== undefined && data.state !== null;
  return {
    id: record.id,
    ref,
    refKey: refOf(ref),
    ownerId: record.ownerId ?? '',
    spaceId: record.spaceId ?? '',
    commandId: record.commandId ?? '',
    requestId: record.requestId ?? '',
    version: record.version,
    createTime: record.createTime,
    header: toHeader(record.header ?? {}),
    events: toEvents(data),
    hasState,
    state: hasState ? data.state : undefined,
    firstOperator: record.firstOperator ?? '',
    firstEventTime: record.firstEventTime ?? 0,
    tags: record.tags ?? {},
    deleted: record.deleted ?? false,
    reservations: toReservations(record),
  };
}

function toEvents({ body }: CommitRecord): readonly CommittedEvent[] {
  return body.map((event) => ({
    id: event.id,
    name: event.name,
    revision: event.revision ?? '0.0.1',
    bodyType: event.bodyType ?? '',
    body: event.body,
  }));
}

/** JSON defines members and never assigns them: `__proto__` and `constructor` are own names here like any other. */
function toHeader(members: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  // Copying costs a tenth of the whole decoding, and hardly any header needs it.
  return hasOnlyTexts(members) ? members : textsOf(members);
}

function hasOnlyTexts(members: Readonly<Record<string, unknown>>): members is Readonly<Record<string, string>> {
  for (const name in members) if (typeof members[name] !== 'string') return false;
  return true;
}

function textsOf(members: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const texts = Object.entries(members).flatMap(([name, value]) => {
    if (typeof value === 'string') return [[name, value]];
    return typeof value === 'number' || typeof value === 'boolean' ? [[name, String(value)]] : [];
  });
  return Object.fromEntries(texts);
}

function toReservations({ reservations }: CommitRecord): CommitReservations | undefined {
  if (reservations === undefined || reservations === null) return undefined;
  return { attempt: reservations.attempt, held: reservations.held ?? [], released: reservations.released ?? [] };
}
