import { writeSync } from 'node:fs';
import { type Level, type LevelWithSilent, type Logger as Pino, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { LogFields, Logger } from '../../runtime/logger.ts';

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
    singleLine: true,
  });
  return { write: (line) => destination.write(format(line)) };
}

/** The fields of a child are merged here: pino would write a name twice that a line has as well. */
function adapt(logger: Pino, own: LogFields = {}): Logger {
  const write =
    (level: Level) =>
    (message: string, fields: LogFields = {}): void => {
      if (logger.isLevelEnabled(level)) logger[level]({ ...own, ...fields }, message);
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => adapt(logger, { ...own, ...fields }),
  };
}
