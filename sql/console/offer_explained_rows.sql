-- Number of clicks and conversions of one offer's figures: the rows of figures_explained, without reading its clicks
-- again.
-- grain: one row
-- key: none
-- nullable: none
SELECT
  coalesce((SELECT clicks FROM offer_stats_2d WHERE offer_id = $offer_id::BIGINT), 0)
  + (
    SELECT count(*)
    FROM conversions
    WHERE offer_id = $offer_id::BIGINT AND occurred_at > $as_of - INTERVAL 48 HOURS AND occurred_at <= $as_of
  ) AS of_rows
