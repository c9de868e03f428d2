export { AppendError, type AppendErrorCode } from '../../log/append/append-error.ts';
export type { AppendOptions, AppendProgress, AppendResult } from '../../log/append/append-options.ts';
export type { TopicOf, TopicQuestion } from '../../log/append/appendable.ts';
export { CodecMissingError } from './batches/codecs.ts';
export { InflatedTooLargeError } from './batches/inflated-too-large-error.ts';
export { LogDamagedError } from './batches/log-damaged-error.ts';
export { LogRefusedError, LogUnsupportedError, TopicMissingError } from './kafka-error.ts';
export { type KafkaLog, type KafkaLogOptions, openKafkaLog } from './open-kafka.ts';
export type { NewTopics, TopicRetention } from './topic-admin.ts';
