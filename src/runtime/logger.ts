export type LogFields = Readonly<Record<string, unknown>>;

/**
 * A log line is a constant sentence plus fields, never payloads. `error`: someone must act; `warn`: degraded, healing;
 * `info`: lifecycle and status changes; `debug`: per batch. Must not throw.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each line. */
  child(fields: LogFields): Logger;
}

/** Says nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
