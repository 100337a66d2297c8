-- What feeds are made of, before what depends on the site: src/pipeline/feed/feed-document.ts takes its fields from all columns of an offer.
-- grain: one row per offer that was ever in a catalog
-- key: offer_id
-- nullable: as in offers, epc, cvr, trend, rank
SELECT
  offers.*,
  figures.epc,
  figures.cvr,
  figures.trend,
  figures.rank
FROM snapshot.offers
LEFT JOIN snapshot.offer_stats_2d AS figures ON figures.offer_id = offers.offer_id
