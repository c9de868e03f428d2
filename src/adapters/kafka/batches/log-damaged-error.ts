import type { Position } from '../../../log/position.ts';
import { TidemarkError } from '../../../runtime/errors.ts';
import type { WireError } from '../wire/wire-error.ts';

/** What the log gave is no record batch, or its checksum is another one. */
export class LogDamagedError extends TidemarkError {
  readonly code = 'LOG_DAMAGED';
}

export function damagedAt({ topic, partition, offset }: Position, cause: WireError): LogDamagedError {
  return new LogDamagedError(
    `Partition ${partition} of ${topic} cannot be read from offset ${offset} on: ${cause.message}.`,
    {
      details: { topic, partition, offset },
      hint: 'Look at the partition with the tools of Kafka; another replica of it may be sound.',
      cause,
    },
  );
}
