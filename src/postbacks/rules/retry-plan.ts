const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds that each attempt waits after the one before it ended, the first after the postback was written. */
const steps = [0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

export const plannedAttempts = steps.length;

/** Postbacks that failed together do not come again all at once. */
const jitter = 0.2;

/** Multiple of its step that a receiver may make an attempt wait by `Retry-After`. */
const maxWaitSteps = 2;

/**
 * Moment of the next attempt, in milliseconds since the epoch; null when the plan has come to its end. `failed` counts
 * the failed attempts of the plan, `retryAfter` is in seconds, `random` gives numbers from 0 up to 1.
 */
export function nextAttemptAt(
  now: number,
  failed: number,
  retryAfter: number | null,
  random: () => number,
): number | null {
  const step = steps[failed];
  if (step === undefined) return null;
  const wait = step * (1 - jitter + 2 * jitter * random());
  const asked = Math.min((retryAfter ?? 0) * second, maxWaitSteps * step);
  return Math.round(now + Math.max(wait, asked));
}

/**
 * A due time further ahead than any wait of its step was set by a clock that has gone back since. It is brought forward
 * to one step from now: never sooner than planned, and at most one step later.
 */
export function dueLimit(now: number, failed: number): { latest: number; clampedAt: number } {
  const step = steps[failed] ?? 0;
  return { latest: now + maxWaitSteps * step, clampedAt: now + step };
}

/** Number of postbacks that `hasOverlongWait` looks at: of more, one comes due soon, and its pass looks at all. */
export const maxWaitsCompared = 1000;

/** True where one of these due times exceeds its limit. `failed` as of `dueLimit`: the latest time of each suffices. */
export function hasOverlongWait(now: number, waits: readonly { failed: number; latest: number }[]): boolean {
  return waits.some(({ failed, latest }) => latest > dueLimit(now, failed).latest);
}
