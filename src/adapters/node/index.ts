export { nodeRuntime } from './node-runtime.ts';
export { type LogDestination, type PinoLoggerOptions, pinoLogger } from './pino-logger.ts';
