-- Differences of each version of an offer to the version before, field by field, newest first.
-- grain: one row per version from the second on, and field that differs
-- key: version, field
-- nullable: before, after
WITH history AS (
  SELECT * FROM offer_history WHERE offer_id = $offer_id::BIGINT
),
spelled AS (
  SELECT
    version,
    COLUMNS(* EXCLUDE (offer_id, version, valid_from, valid_to, published_sha256, content_sha256, created_at, updated_at, run_id))::VARCHAR
  FROM history
),
field_values AS (
  FROM spelled UNPIVOT INCLUDE NULLS (value FOR field IN (COLUMNS(* EXCLUDE (version))))
),
compared AS (
  SELECT version, field, lag(value) OVER (PARTITION BY field ORDER BY version) AS before, value AS after
  FROM field_values
)
SELECT compared.version, history.valid_from, history.run_id, compared.field, compared.before, compared.after
FROM compared
JOIN history ON history.version = compared.version
WHERE compared.before IS DISTINCT FROM compared.after AND compared.version > (SELECT min(version) FROM history)
ORDER BY compared.version DESC, compared.field
