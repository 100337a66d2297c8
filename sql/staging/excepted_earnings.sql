-- What commissions of some offers change in sites' earnings by UTC day: payouts of their credited conversions, times how much
-- lower the offer's commission is than the site's own. USD, exact, negative where it is higher.
-- grain: one row per UTC day and site with a credited conversion of such an offer
-- key: day, site_key
SELECT
  conversion.credited_at::DATE AS day,
  conversion.site_key,
  sum(
    conversion.payout::DECIMAL(38, 6) * (site.commission - coalesce(of_offer.commission, of_source.commission))::DECIMAL(38, 6)
  ) AS difference
FROM excepted_conversions AS conversion
JOIN run_sites AS site ON site.site_key = conversion.site_key
JOIN offers ON offers.offer_id = conversion.offer_id
LEFT JOIN run_site_commissions AS of_offer
  ON of_offer.site_key = conversion.site_key
  AND of_offer.offer_id = conversion.offer_id
LEFT JOIN run_site_commissions AS of_source
  ON of_source.site_key = conversion.site_key
  AND of_source.source = offers.source
WHERE coalesce(of_offer.commission, of_source.commission) IS NOT NULL
GROUP BY ALL
