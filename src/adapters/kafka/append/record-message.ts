import type { Message } from 'kafkajs';
import type { LogRecord, RecordText } from '../../../log/record.ts';

/** A record with the partition it goes to. */
export type PlacedRecord = { readonly record: Omit<LogRecord, 'offset' | 'partition'>; readonly partition: number };

/** A record as kafkajs takes it. */
export function toMessage({ record, partition }: PlacedRecord): Message {
  const { key, value, timestamp, headers } = record;
  return {
    key: toDriver(key),
    value: toDriver(value),
    partition,
    timestamp: String(timestamp),
    headers: toHeaders(headers),
  };
}

/** kafkajs groups headers by name: those of one name keep their order, and stand together. */
function toHeaders(headers: LogRecord['headers']): NonNullable<Message['headers']> {
  const grouped: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, values] of Map.groupBy(headers, (header) => header[0])) {
    grouped[name] = values.map(([, text]) => toDriver(text));
  }
  return grouped as NonNullable<Message['headers']>;
}

function toDriver(text: RecordText): string | Buffer | null {
  if (text === undefined) return null;
  return typeof text === 'string' ? text : Buffer.from(text);
}
