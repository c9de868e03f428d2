export { type KafkaLog, type KafkaLogOptions, openKafkaLog } from './open-kafka.ts';
