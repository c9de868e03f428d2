export type TopicParts = {
  /** Stands before everything, with its own separator if it wants one; default `wow.`. */
  readonly prefix?: string;
  /** The context's alias, or its name where it has none. */
  readonly alias: string;
  readonly aggregate: string;
  readonly kind: 'event' | 'state';
};

/** The topic an aggregate's commits are published on, by the convention `{prefix}{alias}.{aggregate}.{kind}`. */
export function topicName({ prefix = 'wow.', alias, aggregate, kind }: TopicParts): string {
  return `${prefix}${alias}.${aggregate}.${kind}`;
}
