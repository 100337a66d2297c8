-- Sources that have offers, also removed ones.
-- grain: one row per source
-- key: source
-- nullable: none
SELECT source, count(*) AS offers
FROM offers
GROUP BY source
ORDER BY source
