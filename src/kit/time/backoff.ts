/** Waits that double with each failure in a row. Milliseconds. */
interface Backoff {
  /** The wait after the first failure. */
  first: number;
  max: number;
}

/** Returns the milliseconds to wait after so many failures in a row, at least one. */
export function backoffWait({ first, max }: Backoff, failures: number): number {
  return Math.min(max, first * 2 ** (failures - 1));
}

/**
 * Returns a wait of which the second half is random, so that many who failed at once do not come back at once.
 * `random` returns a number from 0 to 1.
 */
export function withJitter(wait: number, random: () => number): number {
  return Math.round(wait / 2 + (wait / 2) * random());
}
