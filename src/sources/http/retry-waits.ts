import { backoffWait, withJitter } from '../../kit/time/backoff.ts';

const requestBackoff = { first: 500, max: 60_000 };

/** Returns the milliseconds before the next try of a request that failed `tries` times. */
export function waitAfter(tries: number, random: () => number): number {
  return withJitter(backoffWait(requestBackoff, tries), random);
}

/** A greater number is a moment since the epoch, in seconds, and not a wait. */
const minEpochSeconds = 1_000_000_000;

/**
 * Returns the milliseconds that a server asks to wait, by `Retry-After` (seconds or an HTTP date) or by a header with
 * the time at which a limit begins anew (seconds from now, or since the epoch). Undefined for anything else.
 */
export function requestedWait(text: string | undefined, nowMilliseconds: number): number | undefined {
  const trimmed = text?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    const seconds = Number(trimmed);
    return Math.max(0, seconds >= minEpochSeconds ? seconds * 1000 - nowMilliseconds : seconds * 1000);
  }
  const moment = /[A-Za-z]/.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - nowMilliseconds);
}
