-- What feeds are made of, before what depends on the site: src/pipeline/feed/feed-document.ts takes its fields from all columns of an offer.
-- An offer that a daily cap hides is capped, and so removed; hidden and shown again it is updated.
-- grain: one row per offer that was ever in a catalog
-- key: offer_id
-- nullable: as in offers, epc, cvr, trend, rank
SELECT
  offers.* EXCLUDE (is_capped) REPLACE (
    CASE WHEN is_capped THEN 'capped' ELSE offers.status END AS status,
    greatest(offers.updated_at, offers.capped_at, offers.uncapped_at) AS updated_at,
    CASE WHEN is_capped THEN offers.capped_at ELSE offers.removed_at END AS removed_at
  ),
  figures.epc,
  figures.cvr,
  figures.trend,
  figures.rank
FROM (SELECT *, status = 'active' AND capped_at IS NOT NULL AND uncapped_at IS NULL AS is_capped FROM snapshot.offers) AS offers
LEFT JOIN snapshot.offer_stats_2d AS figures ON figures.offer_id = offers.offer_id
