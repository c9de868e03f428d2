import { writeSync } from 'node:fs';
import { type LevelWithSilent, type Logger as Pino, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Logger } from '../../runtime/logger.ts';

/** Takes whole lines, each with its line feed. Must not throw. */
export type LogDestination = { write(line: string): void };

export type PinoLoggerOptions = {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `json`: one object a line, for machines; `pretty`: for people. */
  readonly format: 'json' | 'pretty';
  /** Default: the standard error of the process. */
  readonly destination?: LogDestination;
  /** Colours, in `pretty` only. */
  readonly isColored?: boolean;
};

const STDERR = 2;

/** A closed or full pipe must not end a worker: a line that cannot be written is lost. */
const standardError: LogDestination = {
  write(line) {
    try {
      writeSync(STDERR, line);
    } catch {
      // Nobody is left to tell.
    }
  },
};

/** Logs by pino. A line is written before the call returns, so that none is lost when the process ends. */
export function pinoLogger(options: PinoLoggerOptions): Logger {
  const destination = options.destination ?? standardError;
  return adapt(
    pino(
      {
        level: options.level satisfies LevelWithSilent,
        // Neither the process id nor the host: whoever collects logs of several processes adds them.
        base: null,
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: stdSerializers.err },
      },
      options.format === 'pretty' ? pretty(destination, options.isColored ?? false) : destination,
    ),
  );
}

function pretty(destination: LogDestination, isColored: boolean): LogDestination {
  const format = prettyFactory({
    colorize: isColored,
    errorLikeObjectKeys: ['error'],
    translateTime: 'SYS:HH:MM:ss.l',
  });
  return { write: (line) => destination.write(format(line)) };
}

function adapt(logger: Pino): Logger {
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
    child: (fields) => adapt(logger.child(fields)),
  };
}
