import { momentOf } from '../../../src/kit/time/moment.ts';
import type { PublishedFigures } from '../../support/pipeline-under-test.ts';
import type { QueryRow } from '../../../src/kit/duckdb/dialect/rows.ts';
import type { Micros, Millionths } from './facts.ts';
import { quotient, type DayFigures, type HourFigures, type Reference } from './figures.ts';

/**
 * The reference's answers in the columns and forms of the published tables. `kept`: how many per cent a site keeps
 * after its commission, null where nobody knows the site.
 */
export function asPublished(
  reference: Reference,
  asOf: Micros,
  kept: (siteKey: string) => bigint | null,
): Pick<
  PublishedFigures,
  'offer_stats_2d' | 'offer_hourly' | 'offer_daily' | 'network_hourly' | 'site_daily' | 'conversions'
> {
  return {
    offer_stats_2d: reference.offers().map((offer) => ({
      offer_id: offer.offerId,
      as_of: momentOf(asOf),
      clicks: Number(offer.clicks),
      conversions: Number(offer.conversions),
      converted_clicks: Number(offer.convertedClicks),
      earnings: decimal(offer.earnings),
      epc: decimal(offer.epc),
      cvr: decimal(offer.cvr),
      conversions_24h: Number(offer.conversions24h),
      conversions_prior_24h: Number(offer.conversionsPrior24h),
      trend: offer.trend,
      rank: offer.rank === null ? null : Number(offer.rank),
    })),
    offer_hourly: reference.hours().map(({ offerId, hour, clicks, conversions, earnings }) => ({
      offer_id: offerId,
      hour: momentOf(hour),
      clicks: Number(clicks),
      conversions: Number(conversions),
      earnings: decimal(earnings),
    })),
    offer_daily: reference.offerDays().map((day) => ({
      ...daySums(day),
      offer_id: day.of,
      earnings: decimal(day.earnings),
      epc: decimal(quotient(day.earnings, day.clicks)),
      cvr: decimal(quotient(day.convertedClicks * 1_000_000n, day.clicks)),
    })),
    network_hourly: ofNetwork(reference.hours()),
    site_daily: reference.siteDays().map((day) => ({
      ...daySums(day),
      site_key: day.of,
      gross_earnings: decimal(day.earnings),
      earnings_after_commission: afterCommission(day.earnings, kept(day.of)),
    })),
    conversions: reference.conversions().map(({ conversionId, clickId, status, offerId, payout, creditedAt }) => ({
      conversion_id: conversionId,
      click_id: clickId,
      status,
      offer_id: offerId,
      payout: payout === null ? null : decimal(payout),
      credited_at: creditedAt === null ? null : momentOf(creditedAt),
    })),
  };
}

function daySums({ day, clicks, conversions, convertedClicks }: DayFigures<unknown>): QueryRow {
  return {
    day: momentOf(day).slice(0, 10),
    clicks: Number(clicks),
    conversions: Number(conversions),
    converted_clicks: Number(convertedClicks),
  };
}

/** In the order of hours, as they are given. */
function ofNetwork(hours: readonly HourFigures[]): QueryRow[] {
  return [...Map.groupBy(hours, ({ hour }) => hour)].map(([hour, offers]) => ({
    hour: momentOf(hour),
    clicks: offers.reduce((sum, { clicks }) => sum + Number(clicks), 0),
    conversions: offers.reduce((sum, { conversions }) => sum + Number(conversions), 0),
    earnings: decimal(offers.reduce((sum, { earnings }) => sum + earnings, 0n)),
  }));
}

/** Half away from zero to 4 places. */
function afterCommission(gross: Millionths, kept: bigint | null): string | null {
  if (kept === null) return null;
  const tenThousandths = (gross * kept + 5_000n) / 10_000n;
  return `${tenThousandths / 10_000n}.${String(tenThousandths % 10_000n).padStart(4, '0')}`;
}

export function decimal(millionths: Millionths): string {
  return `${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`;
}
