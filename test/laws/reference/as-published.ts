import { momentOf } from '../../../src/time/moment.ts';
import type { Row } from '../../../src/duckdb/dialect/rows.ts';
import type { Micros, Millionths } from './facts.ts';
import type { Reference } from './figures.ts';

/** The reference's answers in the columns and forms of the published tables. */
export function asPublished(
  reference: Reference,
  asOf: Micros,
): { offer_stats_2d: Row[]; offer_hourly: Row[]; conversions: Row[] } {
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

export function decimal(millionths: Millionths): string {
  return `${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`;
}
