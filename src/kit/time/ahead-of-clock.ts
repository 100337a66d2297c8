import { UsageError } from '../errors/errors.ts';
import { compareMoments, dateOf, momentOfMilliseconds, type Moment } from './moment.ts';

/** Clocks of machines differ a little: a moment ahead of this machine's clock by no more counts as present. */
const toleratedMilliseconds = 5 * 60_000;

/** Returns the last moment that is not ahead of the clock. `now` in milliseconds since the epoch. */
export function endOfPresent(now: number): Moment {
  return momentOfMilliseconds(now + toleratedMilliseconds);
}

/**
 * Returns how many milliseconds a moment is ahead of the clock; 0 where by no more than clocks differ. `now` in
 * milliseconds since the epoch.
 */
export function aheadOfClock(moment: Moment, now: number): number {
  return compareMoments(moment, endOfPresent(now)) > 0 ? dateOf(moment).getTime() - now : 0;
}

/** Advice where a published moment, or the beginning of a version, is ahead of the clock. */
export const futureTimestampsAdvice =
  'set the clock where it is wrong; where it is right, `offerline doctor --repair` moves future timestamps back to now';

/** Refuses to work on the future by mistake. Throws `UsageError`. */
export function assertNotAhead(asOf: Moment, wallClock: Moment): void {
  if (aheadOfClock(asOf, dateOf(wallClock).getTime()) === 0) return;
  throw new UsageError(
    `as-of ${asOf} is ahead of this machine's clock, ${wallClock}: correct one of them, or pass --allow-future to compute the future`,
  );
}
