-- lines
CAST(split(_metadata.file_name, '[-.]')[0] AS BIGINT) AS position,
CAST(split(_metadata.file_name, '[-.]')[1] AS BIGINT) AS file_id,
_metadata.file_block_start AS block,
monotonically_increasing_id() AS id,
value AS raw;

-- parsed
SELECT position, file_id, block, id, CASE WHEN NOT is_good THEN raw END AS raw,
      CASE WHEN is_good THEN conversion_id END AS conversion_id,
      CASE WHEN is_good THEN click_id END AS click_id,
      CASE WHEN is_good THEN kind END AS kind,
      CASE WHEN is_good THEN occurred_at_value END AS occurred_at,
      CASE WHEN is_good THEN event_id END AS event_id,
      CASE WHEN is_good THEN try_cast(payout_text AS DECIMAL(15, 6)) END AS payout,
      CASE WHEN is_good THEN reason END AS reason,
      CASE WHEN is_good THEN CAST(conv(left(md5(concat(kind, ':', conversion_id)), 15), 16, 10) AS BIGINT) END AS event_key,
      CASE WHEN is_good THEN unix_date(CAST(occurred_at_value AS DATE)) + 719162 END AS day_number
    FROM (
      SELECT *, coalesce(((CASE WHEN startswith(raw, '{"conversion_id": ') THEN raw = concat_ws('', '{"conversion_id": "', conversion_id, '"', ', "click_id": "', click_id, '"', ', "kind": "', kind, '"', ', "occurred_at": "', occurred_at, '"', concat(', "event_id": "', event_id, '"'), concat(', "payout": ', payout), concat(', "reason": "', reason, '"'), '}') ELSE raw = concat_ws('', '{"conversion_id":"', conversion_id, '"', ',"click_id":"', click_id, '"', ',"kind":"', kind, '"', ',"occurred_at":"', occurred_at, '"', concat(',"event_id":"', event_id, '"'), concat(',"payout":', payout), concat(',"reason":"', reason, '"'), '}') END AND (payout IS NULL OR payout RLIKE '^(0|[1-9][0-9]{0,8})([.][0-9]{1,6})?\\z')) OR (raw RLIKE '^\\{(?:"(?:conversion_id|click_id|kind|occurred_at|event_id|payout|reason)": ?(?:"[^"\\\\\\x00-\\x1f]*"|(?:0|[1-9][0-9]{0,17})|null)|"(?:payout)": ?(?:0|[1-9][0-9]{0,17})\\.[0-9]{1,18})(?:, ?(?:"(?:conversion_id|click_id|kind|occurred_at|event_id|payout|reason)": ?(?:"[^"\\\\\\x00-\\x1f]*"|(?:0|[1-9][0-9]{0,17})|null)|"(?:payout)": ?(?:0|[1-9][0-9]{0,17})\\.[0-9]{1,18})){0,6}\\}\\z' AND (length(raw) - length(replace(raw, '":', ''))) / 2 = int(conversion_id IS NOT NULL) + int(click_id IS NOT NULL) + int(kind IS NOT NULL) + int(occurred_at IS NOT NULL) + int(event_id IS NOT NULL) + int(payout IS NOT NULL) + int(reason IS NOT NULL) + CASE WHEN contains(raw, 'null') THEN int(conversion_id IS NULL AND (contains(raw, '"conversion_id":null') OR contains(raw, '"conversion_id": null'))) + int(click_id IS NULL AND (contains(raw, '"click_id":null') OR contains(raw, '"click_id": null'))) + int(kind IS NULL AND (contains(raw, '"kind":null') OR contains(raw, '"kind": null'))) + int(occurred_at IS NULL AND (contains(raw, '"occurred_at":null') OR contains(raw, '"occurred_at": null'))) + int(event_id IS NULL AND (contains(raw, '"event_id":null') OR contains(raw, '"event_id": null'))) + int(payout IS NULL AND (contains(raw, '"payout":null') OR contains(raw, '"payout": null'))) + int(reason IS NULL AND (contains(raw, '"reason":null') OR contains(raw, '"reason": null'))) ELSE 0 END)) AND conversion_id IS NOT NULL
        AND click_id IS NOT NULL
        AND kind IS NOT NULL
        AND occurred_at IS NOT NULL
        AND octet_length(conversion_id) <= 128
        AND conversion_id RLIKE '^[ -~]+\\z'
        AND octet_length(click_id) <= 128
        AND click_id RLIKE '^[ -~]+\\z'
        AND kind IN ('pending', 'credit', 'reject', 'chargeback')
        AND occurred_at RLIKE '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])\\z'
        AND occurred_at_value >= TIMESTAMP '1970-01-02 00:00:00'
        AND occurred_at_value <= TIMESTAMP '2026-11-18T12:00:00Z' + INTERVAL 24 HOURS
        AND (event_id IS NULL OR octet_length(event_id) BETWEEN 1 AND 256)
        AND (payout IS NULL OR payout_text RLIKE '^[0-9]{1,9}([.][0-9]{1,6})?\\z'), false) AS is_good
      FROM (
        SELECT *, try_cast(occurred_at AS TIMESTAMP) AS occurred_at_value, coalesce(nullif(regexp_extract(raw, '"payout": ?([0-9.]+)', 1), ''), payout) AS payout_text
        FROM (
          SELECT position, file_id, block, id, raw, texts.conversion_id AS conversion_id, texts.click_id AS click_id, texts.kind AS kind, texts.occurred_at AS occurred_at, texts.event_id AS event_id, texts.payout AS payout, texts.reason AS reason
          FROM (SELECT *, from_json(raw, 'conversion_id STRING, click_id STRING, kind STRING, occurred_at STRING, event_id STRING, payout STRING, reason STRING') AS texts FROM lines))));

-- duplicates
WITH events AS (SELECT position, block, id, file_id, event_key, day_number, conversion_id, click_id, kind, occurred_at, event_id, payout, reason, 0 AS warnings FROM parsed WHERE raw IS NULL UNION ALL SELECT position, block, id, file_id, event_key, day_number, conversion_id, click_id, kind, occurred_at, event_id, payout, reason, warnings FROM odd),
        repeated AS (
          SELECT event_key FROM (SELECT event_key FROM events UNION ALL SELECT event_key FROM known)
          GROUP BY event_key HAVING count(*) > 1),
        candidates AS (
          SELECT -1 AS position, 0 AS block, 0 AS id, CAST(NULL AS BIGINT) AS file_id, event_key, conversion_id, kind, struct(conversion_id, click_id, kind, occurred_at, event_id, payout, reason) AS content FROM known
          UNION ALL
          SELECT position, block, id, file_id, event_key, conversion_id, kind, struct(conversion_id, click_id, kind, occurred_at, event_id, payout, reason) AS content FROM events LEFT SEMI JOIN repeated USING (event_key))
      SELECT position, block, id, file_id, conflict
      FROM (
        SELECT position, block, id, file_id, row_number() OVER by_arrival AS nth,
          NOT (content <=> first_value(content) OVER by_arrival) AS conflict
        FROM candidates
        WINDOW by_arrival AS (PARTITION BY event_key, conversion_id, kind ORDER BY position, block, id))
      WHERE nth > 1 AND position >= 0;

-- days
SELECT /*+ REBALANCE(day_number) */ conversion_id, click_id, kind, occurred_at, event_id, payout, reason, event_key, file_id, CAST(warnings AS SMALLINT) AS warnings, CAST(NULL AS STRING) AS reject, day_number
      FROM (SELECT position, block, id, file_id, event_key, day_number, conversion_id, click_id, kind, occurred_at, event_id, payout, reason, 0 AS warnings FROM parsed WHERE raw IS NULL UNION ALL SELECT position, block, id, file_id, event_key, day_number, conversion_id, click_id, kind, occurred_at, event_id, payout, reason, warnings FROM odd) LEFT ANTI JOIN duplicates USING (position, block, id);
