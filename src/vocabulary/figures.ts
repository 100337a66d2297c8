/** The figures of an offer, as columns of `offer_stats_2d` and of `report_daily`, in their order. */
export const offerFigures = [
  'clicks',
  'conversions',
  'converted_clicks',
  'earnings',
  'epc',
  'cvr',
  'conversions_24h',
  'conversions_prior_24h',
  'trend',
  'rank',
] as const;
