/** A commit as records carry it, once `problemOf` found nothing. A null counts as missing, but in data. */
export type CommitRecord = {
  readonly id: string;
  readonly contextName: string;
  readonly aggregateName: string;
  readonly tenantId?: string | null;
  readonly aggregateId: string;
  readonly ownerId?: string | null;
  readonly spaceId?: string | null;
  readonly commandId?: string | null;
  readonly requestId?: string | null;
  readonly version: number;
  readonly createTime: number;
  readonly header?: Readonly<Record<string, unknown>> | null;
  readonly body: readonly EventRecord[];
  readonly state?: unknown;
  readonly firstOperator?: string | null;
  readonly firstEventTime?: number | null;
  readonly tags?: Readonly<Record<string, unknown>> | null;
  readonly deleted?: boolean | null;
  readonly reservations?: ReservationsRecord | null;
};

export type EventRecord = {
  readonly id: string;
  readonly name: string;
  readonly revision?: string | null;
  readonly bodyType?: string | null;
  readonly body?: unknown;
};

export type ReservationsRecord = {
  readonly attempt: string;
  readonly held?: readonly ReservationKeyRecord[] | null;
  readonly released?: readonly ReservationKeyRecord[] | null;
};

export type ReservationKeyRecord = { readonly namespace: string; readonly key: string };

/** The same members before they are checked. */
type Unchecked<Checked> = { readonly [Member in keyof Checked]?: unknown };

/**
 * Why a value is not a commit record: path, what was expected there, and what was found, cut to 100 characters.
 * `undefined` if it is one. Unknown members are of no interest.
 */
export function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return expected('value', 'an object', value);
  const record: Unchecked<CommitRecord> = value;
  return (
    identityProblem(record) ??
    commandProblem(record) ??
    bodyProblem(record.body) ??
    stateProblem(record) ??
    reservationsProblem(record.reservations)
  );
}

/** `path: expected what, got found`, with no more of what was found than tells what is wrong. */
export function expected(path: string, what: string, found: unknown): string {
  return `${path}: expected ${what}, got ${brief(found)}`;
}

function identityProblem(record: Unchecked<CommitRecord>): string | undefined {
  if (!isIdentity(record.id)) return identityExpected('id', record.id);
  if (!isIdentity(record.contextName)) return identityExpected('contextName', record.contextName);
  if (!isIdentity(record.aggregateName)) return identityExpected('aggregateName', record.aggregateName);
  if (!isMissing(record.tenantId) && !isIdentity(record.tenantId)) return identityExpected('tenantId', record.tenantId);
  if (!isIdentity(record.aggregateId)) return identityExpected('aggregateId', record.aggregateId);
  if (!isInteger(record.version) || record.version < 1) return expected('version', 'an integer >= 1', record.version);
  return undefined;
}

function commandProblem(record: Unchecked<CommitRecord>): string | undefined {
  if (!isOptionalText(record.ownerId)) return expected('ownerId', 'a string', record.ownerId);
  if (!isOptionalText(record.spaceId)) return expected('spaceId', 'a string', record.spaceId);
  if (!isOptionalText(record.commandId)) return expected('commandId', 'a string', record.commandId);
  if (!isOptionalText(record.requestId)) return expected('requestId', 'a string', record.requestId);
  if (!isInteger(record.createTime)) return expected('createTime', 'an integer', record.createTime);
  if (!isMissing(record.header) && !isObject(record.header)) return expected('header', 'an object', record.header);
  return undefined;
}

function bodyProblem(body: unknown): string | undefined {
  if (!Array.isArray(body)) return expected('body', 'an array of events', body);
  if (body.length === 0) return 'body: expected at least one event, got none';
  for (let i = 0; i < body.length; i += 1) {
    const problem = eventProblem(body[i], i);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function eventProblem(event: unknown, index: number): string | undefined {
  if (!isObject(event)) return expected(`body[${index}]`, 'an object', event);
  const { id, name, revision, bodyType }: Unchecked<EventRecord> = event;
  if (typeof id !== 'string') return expected(`body[${index}].id`, 'a string', id);
  if (typeof name !== 'string') return expected(`body[${index}].name`, 'a string', name);
  if (!isOptionalText(revision)) return expected(`body[${index}].revision`, 'a string', revision);
  if (!isOptionalText(bodyType)) return expected(`body[${index}].bodyType`, 'a string', bodyType);
  return undefined;
}

function stateProblem({ firstOperator, firstEventTime, tags, deleted }: Unchecked<CommitRecord>): string | undefined {
  if (!isOptionalText(firstOperator)) return expected('firstOperator', 'a string', firstOperator);
  if (!isMissing(firstEventTime) && !isInteger(firstEventTime)) {
    return expected('firstEventTime', 'an integer', firstEventTime);
  }
  if (!isMissing(tags) && !isObject(tags)) return expected('tags', 'an object', tags);
  if (!isMissing(deleted) && typeof deleted !== 'boolean') return expected('deleted', 'true or false', deleted);
  return undefined;
}

function reservationsProblem(reservations: unknown): string | undefined {
  if (isMissing(reservations)) return undefined;
  if (!isObject(reservations)) return expected('reservations', 'an object', reservations);
  const { attempt, held, released }: Unchecked<ReservationsRecord> = reservations;
  if (!isIdentity(attempt)) return identityExpected('reservations.attempt', attempt);
  return keysProblem('reservations.held', held) ?? keysProblem('reservations.released', released);
}

function keysProblem(path: string, keys: unknown): string | undefined {
  if (isMissing(keys)) return undefined;
  if (!Array.isArray(keys)) return expected(path, 'an array', keys);
  for (let i = 0; i < keys.length; i += 1) {
    const entry: unknown = keys[i];
    if (!isObject(entry)) return expected(`${path}[${i}]`, 'an object', entry);
    const { namespace, key }: Unchecked<ReservationKeyRecord> = entry;
    if (!isIdentity(namespace)) return identityExpected(`${path}[${i}].namespace`, namespace);
    if (!isIdentity(key)) return identityExpected(`${path}[${i}].key`, key);
  }
  return undefined;
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isOptionalText(value: unknown): boolean {
  return typeof value === 'string' || isMissing(value);
}

/** Texts by which commits, aggregates and keys are told apart must survive UTF-8: no lone surrogates. */
function isIdentity(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function identityExpected(path: string, found: unknown): string {
  return expected(path, typeof found === 'string' ? 'text without lone surrogates' : 'a string', found);
}

function brief(found: unknown): string {
  if (found === undefined) return 'nothing';
  if (Array.isArray(found)) return `an array of ${found.length}`;
  if (isObject(found)) return 'an object';
  return JSON.stringify(typeof found === 'string' ? found.slice(0, 100) : found);
}
