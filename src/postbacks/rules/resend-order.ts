import { dateOf } from '../../kit/time/moment.ts';
import type { DeliveryState } from '../store/delivery-rows.ts';

/**
 * Whether a site's order to send a postback again changes something: not where the postback is on its way or due, and
 * not where it was tried more often than the order knows. `now` is in milliseconds since the epoch.
 */
export function isToResend(
  { state, attempts, nextAttemptAt }: Pick<DeliveryState, 'state' | 'attempts' | 'nextAttemptAt'>,
  knownAttempts: number | undefined,
  now: number,
): boolean {
  if (knownAttempts !== undefined && attempts > knownAttempts) return false;
  if (state === 'pending') return nextAttemptAt !== null && dateOf(nextAttemptAt).getTime() > now;
  return state !== 'delivering';
}
