/** Asks again, now: after an `await` the compiler still believes what it knew of `signal.aborted` before. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
