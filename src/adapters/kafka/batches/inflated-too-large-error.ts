import { TidemarkError } from '../../../runtime/errors.ts';

/** Records take more memory than they may once they are decompressed. */
export class InflatedTooLargeError extends TidemarkError {
  readonly code = 'INFLATED_TOO_LARGE';
}

export function tooLarge(bytesMax: number, cause?: unknown): InflatedTooLargeError {
  return new InflatedTooLargeError(`A record batch takes more than ${bytesMax} bytes once it is decompressed.`, {
    details: { bytesMax },
    hint: 'Raise the bound on decompressed bytes, or let producers send smaller batches.',
    cause,
  });
}
