import type { Commit } from '../commit.ts';
import type { CommitCodec, Decoded } from '../commit-codec.ts';
import type { LogRecord } from '../record.ts';
import { topicName } from '../topic-name.ts';
import { isCount, isObject, type LineRecord } from './line-record.ts';

/** What a topic is chosen by where a line names none. */
export type TopicQuestion = { readonly context: string; readonly aggregate: string; readonly hasState: boolean };

/** `undefined`: the name by the rule `wow.{context}.{aggregate}.{event|state}`. */
export type TopicOf = (question: TopicQuestion) => string | undefined;

/** A record ready to be stored. */
export type Appendable = {
  /** 1-based, for error messages. */
  readonly line: number;
  /** Where to; `partition` is a wish, undefined leaves it to the key. */
  readonly record: Omit<LogRecord, 'offset' | 'partition'> & { readonly partition: number | undefined };
  /** What the record decodes to; always there unless the log is mirrored as it is. */
  readonly commit: CommitIdentity | undefined;
};

/** What strict order looks at. */
export type CommitIdentity = Pick<Commit, 'id' | 'refKey' | 'version'>;

export type Settled =
  | { readonly kind: 'appendable'; readonly appendable: Appendable }
  | { readonly kind: 'bad'; readonly reason: string };

export type SettleOptions = {
  readonly line: number;
  /** Whether values that are no commits are taken too. */
  readonly isAsIs: boolean;
  readonly codec: CommitCodec;
  readonly topicOf: TopicOf;
  readonly nowMs: () => number;
};

/**
 * A line that is a bare commit record, without parsing it twice: the key is guessed from the text, and a codec that finds
 * a commit under it has compared it with the commit's own. `undefined`: it takes a closer look.
 */
export function settleCommit(text: string, options: SettleOptions): Appendable | undefined {
  const key = /"aggregateId"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
  if (key === undefined || !text.isWellFormed()) return undefined;
  const decoded = decode(options.codec, { key, value: text, headers: [] });
  if (decoded.kind !== 'commit') return undefined;
  const { commit } = decoded;
  const topic = topicBy({}, commit, options.topicOf);
  if (topic === undefined) return undefined;
  const record = { topic, partition: undefined, timestamp: commit.createTime, key, value: text, headers: [] };
  return { line: options.line, record, commit: identityOf(commit) };
}

/** Fills in what the line left out: topic and key by the commit's identity, the time by its `createTime`. */
export function settle(from: LineRecord, { line, isAsIs, codec, topicOf, nowMs }: SettleOptions): Settled {
  const { content, headers, value } = from;
  const members = isObject(content) ? content : {};
  const { aggregateId, createTime } = members;
  const key = from.key === undefined ? textOrNothing(aggregateId) : from.key.text;
  const decoded = decode(codec, { key, value, headers });
  if (!isAsIs && decoded.kind !== 'commit') {
    return { kind: 'bad', reason: decoded.kind === 'tombstone' ? 'a null value is no commit' : decoded.reason };
  }
  const commit = decoded.kind === 'commit' ? decoded.commit : undefined;
  if (typeof key === 'string' && !key.isWellFormed())
    return { kind: 'bad', reason: 'aggregateId: holds a lone surrogate' };
  const topic = from.topic ?? topicBy(members, commit, topicOf);
  if (topic === undefined) return { kind: 'bad', reason: 'topic: expected a name, as the value does not tell one' };
  const timestamp = from.timestamp ?? commit?.createTime ?? (isCount(createTime) ? createTime : nowMs());
  const record = { topic, partition: isAsIs ? from.partition : undefined, timestamp, key, value, headers };
  return { kind: 'appendable', appendable: { line, record, commit: identityOf(commit) } };
}

function decode(codec: CommitCodec, content: Pick<LogRecord, 'key' | 'value' | 'headers'>): Decoded {
  return codec.decode({ topic: '', partition: 0, offset: 0, timestamp: 0, ...content });
}

/** Only what is needed later: an input waits in memory until it is known to be whole. */
export function identityOf(commit: Commit | undefined): CommitIdentity | undefined {
  return commit && { id: commit.id, refKey: commit.refKey, version: commit.version };
}

function topicBy(
  members: Readonly<Record<string, unknown>>,
  commit: Commit | undefined,
  topicOf: TopicOf,
): string | undefined {
  const context = commit?.ref.context ?? textOrNothing(members['contextName']);
  const aggregate = commit?.ref.aggregate ?? textOrNothing(members['aggregateName']);
  if (context === undefined || aggregate === undefined) return undefined;
  const { state } = members;
  const hasState = commit?.hasState ?? (state !== undefined && state !== null);
  const kind = hasState ? 'state' : 'event';
  const topic = topicOf({ context, aggregate, hasState }) ?? topicName({ alias: context, aggregate, kind });
  return topic.isWellFormed() ? topic : undefined;
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
