import { UsageError } from '../errors/errors.ts';
import { compareMoments, dateOf, momentOfMilliseconds, type Moment } from './moment.ts';

/** Clocks of machines differ a little: what lies ahead of ours by no more than this is taken as present. */
const toleratedMilliseconds = 5 * 60_000;

/** What comes after this lies ahead of the clock. `now` in milliseconds since the epoch. */
export function endOfPresent(now: number): Moment {
  return momentOfMilliseconds(now + toleratedMilliseconds);
}

/**
 * By how many milliseconds a moment lies ahead of the clock; 0 where by no more than clocks differ. `now` in
 * milliseconds since the epoch.
 */
export function aheadOfClock(moment: Moment, now: number): number {
  return compareMoments(moment, endOfPresent(now)) > 0 ? dateOf(moment).getTime() - now : 0;
}

/** What to do where something was published, or begins, ahead of the clock. */
export const leadBackAdvice =
  'set the clock where it is wrong; where it is right, `offerline doctor --repair` moves future timestamps back to now';

/** Refuses to work on the future by mistake. Throws `UsageError`. */
export function assertNotAhead(asOf: Moment, wallClock: Moment): void {
  if (aheadOfClock(asOf, dateOf(wallClock).getTime()) === 0) return;
  throw new UsageError(
    `as-of ${asOf} lies ahead of this machine's clock, which says ${wallClock}: correct the one or the other, or pass --allow-future to compute the future`,
  );
}
