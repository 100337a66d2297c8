-- The grain that each published table promises holds.
-- grain: one row per repeated key
-- inputs: offers, offer_history, offer_stats_2d, sites, report_daily, ingest_files of the snapshot, audited_offer_hourly, audited_conversions, audited_days
SELECT 'offers' AS table_name, offer_id::VARCHAR AS key FROM snapshot.offers GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'offer_history', offer_id || ' ' || version FROM snapshot.offer_history GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'offer_stats_2d', offer_id::VARCHAR FROM snapshot.offer_stats_2d GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'sites', site_key FROM snapshot.sites GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'ingest_files', file_id::VARCHAR FROM snapshot.ingest_files GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'offer_hourly', offer_id || ' ' || hour
FROM audited_offer_hourly
WHERE hour >= (SELECT min(day) FROM audited_days)
GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'conversions', conversion_id
FROM audited_conversions
WHERE occurred_at >= (SELECT min(day) FROM audited_days)
GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'report_daily', report_date || ' ' || offer_id
FROM snapshot.report_daily
WHERE report_date >= (SELECT min(day) FROM audited_days)
GROUP BY ALL HAVING count(*) > 1
