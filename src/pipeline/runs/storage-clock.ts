import { durationText } from '../../kit/time/age.ts';

/**
 * Milliseconds by which a machine's clock may differ from storage's. Beyond, it writes nothing there: what it published
 * ahead of the other machines' clocks would keep them from publishing until theirs are there.
 */
const toleratedOffset = 60_000;

/**
 * Returns such as "this machine's clock is 10 min ahead of that of s3://…"; undefined where it is near enough, or not
 * known. `offset`: milliseconds, positive where this machine is ahead.
 */
export function describeClockOffset(offset: number | null | undefined, storage: string): string | undefined {
  if (offset === undefined || offset === null || Math.abs(offset) <= toleratedOffset) return undefined;
  const direction = offset > 0 ? 'ahead of' : 'behind';
  return `this machine's clock is ${durationText(Math.abs(offset) / 1000)} ${direction} that of ${storage}`;
}

/** Advice where the two differ too much. */
export const clockOffsetAdvice =
  'set the clock, best by chrony or systemd-timesyncd (`timedatectl` shows whether one runs); until then this machine writes nothing to storage';
