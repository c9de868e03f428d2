import type { LogEntry, logCreator } from 'kafkajs';
import type { Logger } from '../../../runtime/logger.ts';

/**
 * What kafkajs says goes to the debug level, whatever it calls it: it reports as errors what heals by itself, again and
 * again. What somebody must know is logged by this adapter.
 */
export function driverLog(logger: Logger): logCreator {
  return () =>
    ({ namespace, label, log }: LogEntry) => {
      const { message, ...fields } = log;
      logger.debug('The Kafka client reports.', { ...fields, said: message, namespace, severity: label });
    };
}
