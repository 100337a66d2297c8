-- Ranks run from 1 without gap or tie.
-- grain: one row per rank that differs from its position
SELECT offer_id, rank, row_number() OVER (ORDER BY rank) AS position
FROM snapshot.offer_stats_2d
WHERE rank IS NOT NULL
QUALIFY rank <> position
