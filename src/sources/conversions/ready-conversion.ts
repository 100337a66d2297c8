import { amountInUsd, parseMoney } from '../../kit/text/decimal-text.ts';
import { reasonText } from '../../kit/text/reason-text.ts';
import { dateOf, type Moment } from '../../kit/time/moment.ts';
import { readTimestamp } from '../../kit/time/timestamp-text.ts';
import type { NetworkConversion } from '../connectors/network-conversion.ts';
import { currencyOf } from '../records/currency.ts';
import { listedAmount, type ReadyConversion } from './emitted-conversions.ts';

/** Settings for reading a source's conversions. */
export interface ConversionReading {
  source: string;
  /** Names of all other sources in `sources.json`. */
  otherSources: readonly string[];
  /** Zone of times without an offset. */
  timeZone: string | undefined;
  /** Currency of amounts without one, or with a sign alone. */
  currency: string | undefined;
  /** USD for one unit of a currency, as in `offerline.json`. */
  rates: Readonly<Record<string, string>>;
  pulledAt: Moment;
}

/** Reasons for which a conversion is left out, and counted. */
type NotReady = 'no_click' | 'bad_time' | 'time_without_zone' | 'bad_payout' | 'no_rate';

/** Converts a conversion's times to UTC and its amount to USD. */
export function readyConversion(
  { id, laterId, clickId, status, occurredAt, changedAt, payout, currency, eventId, reason }: NetworkConversion,
  { timeZone, currency: configured, rates, pulledAt }: ConversionReading,
): ReadyConversion | NotReady {
  if (clickId === undefined) return 'no_click';
  const wallClock = dateOf(pulledAt);
  const happened = readTimestamp(occurredAt, wallClock, timeZone);
  if ('fault' in happened) return happened.fault === 'timestamp_without_offset' ? 'time_without_zone' : 'bad_time';
  const changed = changedAt === undefined ? undefined : readTimestamp(changedAt, wallClock, timeZone);
  const amount = amountOf(payout, currencyOf(currency, configured).toUpperCase(), rates);
  if ('fault' in amount) return amount.fault;
  return {
    id,
    laterId,
    clickId,
    status,
    occurredAt: happened.moment,
    changedAt: changed !== undefined && 'moment' in changed ? changed.moment : pulledAt,
    payout: amount.usd,
    listed: amount.listed,
    eventId,
    reason: reasonText(reason),
  };
}

/**
 * Returns an amount in USD, shortest decimal text, and as it is listed; null where the network states none and the
 * catalog's counts.
 */
function amountOf(
  payout: string | undefined,
  currency: string,
  rates: Readonly<Record<string, string>>,
): { usd: string | null; listed: string | null } | { fault: NotReady } {
  if (payout === undefined) return { usd: null, listed: null };
  const amount = parseMoney(payout);
  if (amount === undefined) return { fault: 'bad_payout' };
  const converted = amountInUsd(amount, currency, rates);
  return 'fault' in converted ? converted : { ...converted, listed: listedAmount(amount, currency) };
}
