-- What each version of an offer says otherwise than the one before, field by field, the newest first.
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
said AS (
  FROM spelled UNPIVOT INCLUDE NULLS (said FOR field IN (COLUMNS(* EXCLUDE (version))))
),
compared AS (
  SELECT version, field, lag(said) OVER (PARTITION BY field ORDER BY version) AS before, said AS after
  FROM said
)
SELECT compared.version, history.valid_from, history.run_id, compared.field, compared.before, compared.after
FROM compared
JOIN history ON history.version = compared.version
WHERE compared.before IS DISTINCT FROM compared.after AND compared.version > (SELECT min(version) FROM history)
ORDER BY compared.version DESC, compared.field
