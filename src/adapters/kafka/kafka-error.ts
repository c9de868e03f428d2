import { messageOf, TidemarkError, UnavailableError } from '../../runtime/errors.ts';

/** The log does not let this process in, or not at a topic or a group: an operator's business. */
export class LogRefusedError extends TidemarkError {
  readonly code = 'LOG_REFUSED';
}

/** The brokers are too old. */
export class LogUnsupportedError extends TidemarkError {
  readonly code = 'LOG_UNSUPPORTED';
}

/** A topic to append to does not exist. */
export class TopicMissingError extends TidemarkError {
  readonly code = 'TOPIC_MISSING';
}

/** Numbers of Kafka's protocol that more than one place asks for. */
export const KafkaCode = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  topicAuthorizationFailed: 29,
  groupAuthorizationFailed: 30,
} as const;

/** What an exception of kafkajs, or one of Node's sockets, means to somebody who asked the log. */
export function toLogError(error: unknown, doing: string): TidemarkError {
  if (error instanceof TidemarkError) return error;
  const kinds = kindsOf(error);
  const isRefused = kinds.some((kind) => /AUTHENTICATION|AUTHORIZATION|UNSUPPORTED_SASL/i.test(kind));
  if (isRefused) {
    return new LogRefusedError(`Kafka refused ${doing}: ${messageOf(error)}.`, {
      hint: 'Correct the credentials, or give the user the right to do so.',
      cause: error,
    });
  }
  if (kinds.includes('UNSUPPORTED_VERSION')) return unsupported(doing, error);
  return new UnavailableError(`Kafka cannot be reached for ${doing}: ${messageOf(error)}.`, {
    hint: 'Look at the brokers and at the network between.',
    cause: error,
  });
}

export function unsupported(doing: string, cause?: unknown): LogUnsupportedError {
  return new LogUnsupportedError(`The brokers are too old for ${doing}.`, {
    hint: 'Tidemark needs Kafka 3.1 or newer.',
    cause,
  });
}

/** Names and types of an error and of what caused it. */
function kindsOf(error: unknown): readonly string[] {
  const kinds: string[] = [];
  let at: unknown = error;
  // Bounded: a cause may lead back to itself.
  for (let depth = 0; depth < 8 && at instanceof Error; depth += 1) {
    kinds.push(at.name);
    if ('type' in at && typeof at.type === 'string') kinds.push(at.type);
    at = at.cause ?? ('originalError' in at ? at.originalError : undefined);
  }
  return kinds;
}
