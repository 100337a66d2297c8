-- EPC and CVR are the quotients of the sums beside them, rounded half away from zero to 6 places, and 0 without clicks: in
-- offer_stats_2d, and in the reports and days of offer_daily that this snapshot is the first to publish.
-- Compared without a division: a quotient times the clicks may miss the sum by half a millionth a click, and by exactly
-- that only from above.
-- grain: one row per offer with a wrong EPC or CVR, in reports and offer_daily by day
SELECT coalesce(report_date, day) AS day, offer_id, clicks, converted_clicks, earnings, epc, cvr
FROM (
  FROM snapshot.offer_stats_2d
  UNION ALL BY NAME
  FROM audited_report_daily
  UNION ALL BY NAME
  FROM audited_offer_daily
)
WHERE CASE
  WHEN clicks = 0 THEN epc <> 0 OR cvr <> 0
  ELSE 2000000 * (epc * clicks - earnings) > clicks OR 2000000 * (earnings - epc * clicks) >= clicks
    OR 2000000 * (cvr * clicks - converted_clicks) > clicks OR 2000000 * (converted_clicks - cvr * clicks) >= clicks
END
