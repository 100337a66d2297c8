/** Exponential waits between tries: at most so long each. */
const longestWaitMilliseconds = 60_000;
const firstWaitMilliseconds = 500;

/**
 * Milliseconds before the next try of a request that failed `tries` times, up to half of it at random, so that many who
 * were refused at once do not come back at once. `random` gives a number from 0 to 1.
 */
export function backoff(tries: number, random: () => number): number {
  const most = Math.min(longestWaitMilliseconds, firstWaitMilliseconds * 2 ** (tries - 1));
  return Math.round(most / 2 + (most / 2) * random());
}

/** A number that is greater is a moment since the epoch, in seconds, and not a wait. */
const earliestEpochSeconds = 1_000_000_000;

/**
 * Milliseconds that a server asks to wait, by `Retry-After` (seconds or an HTTP date) or by a header that tells when a
 * limit begins anew (seconds from now, or since the epoch). Undefined where it says nothing that can be read.
 */
export function askedWait(text: string | undefined, nowMilliseconds: number): number | undefined {
  const trimmed = text?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    const seconds = Number(trimmed);
    return Math.max(0, seconds >= earliestEpochSeconds ? seconds * 1000 - nowMilliseconds : seconds * 1000);
  }
  const moment = /[A-Za-z]/.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - nowMilliseconds);
}
