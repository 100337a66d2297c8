-- lines
CAST(split(_metadata.file_name, '[-.]')[0] AS BIGINT) AS position,
CAST(split(_metadata.file_name, '[-.]')[1] AS BIGINT) AS file_id,
_metadata.file_block_start AS block,
monotonically_increasing_id() AS id,
value AS raw;

-- parsed
SELECT position, file_id, block, id, CASE WHEN NOT is_good THEN raw END AS raw,
      CASE WHEN is_good THEN click_id END AS click_id,
      CASE WHEN is_good THEN try_cast(offer_id AS INT) END AS offer_id,
      CASE WHEN is_good THEN source END AS source,
      CASE WHEN is_good THEN external_id END AS external_id,
      CASE WHEN is_good THEN site_key END AS site_key,
      CASE WHEN is_good THEN user_id END AS user_id,
      CASE WHEN is_good THEN clicked_at_value END AS clicked_at,
      CASE WHEN is_good THEN upper(country) END AS country,
      CASE WHEN is_good THEN lower(device) END AS device,
      CASE WHEN is_good THEN ip END AS ip,
      CASE WHEN is_good THEN user_agent END AS user_agent,
      CASE WHEN is_good THEN sub1 END AS sub1,
      CASE WHEN is_good THEN sub2 END AS sub2,
      CASE WHEN is_good THEN CAST(conv(left(md5(click_id), 15), 16, 10) AS BIGINT) END AS event_key,
      CASE WHEN is_good THEN unix_date(CAST(clicked_at_value AS DATE)) + 719162 END AS day_number
    FROM (
      SELECT *, coalesce(((CASE WHEN startswith(raw, '{"click_id": ') THEN raw = concat_ws('', '{"click_id": "', click_id, '"', concat(', "offer_id": ', offer_id), concat(', "source": "', source, '"'), concat(', "external_id": "', external_id, '"'), ', "site_key": "', site_key, '"', ', "user_id": "', user_id, '"', ', "clicked_at": "', clicked_at, '"', concat(', "country": "', country, '"'), concat(', "device": "', device, '"'), concat(', "ip": "', ip, '"'), concat(', "user_agent": "', user_agent, '"'), concat(', "sub1": "', sub1, '"'), concat(', "sub2": "', sub2, '"'), '}') ELSE raw = concat_ws('', '{"click_id":"', click_id, '"', concat(',"offer_id":', offer_id), concat(',"source":"', source, '"'), concat(',"external_id":"', external_id, '"'), ',"site_key":"', site_key, '"', ',"user_id":"', user_id, '"', ',"clicked_at":"', clicked_at, '"', concat(',"country":"', country, '"'), concat(',"device":"', device, '"'), concat(',"ip":"', ip, '"'), concat(',"user_agent":"', user_agent, '"'), concat(',"sub1":"', sub1, '"'), concat(',"sub2":"', sub2, '"'), '}') END AND (offer_id IS NULL OR offer_id RLIKE '^(0|[1-9][0-9]{0,8})([.][0-9]{1,6})?\\z')) OR (raw RLIKE '^\\{(?:"(?:click_id|offer_id|source|external_id|site_key|user_id|clicked_at|country|device|ip|user_agent|sub1|sub2)": ?(?:"[^"\\\\\\x00-\\x1f]*"|(?:0|[1-9][0-9]{0,17})|null)|"(?:offer_id)": ?(?:0|[1-9][0-9]{0,17})\\.[0-9]{1,18})(?:, ?(?:"(?:click_id|offer_id|source|external_id|site_key|user_id|clicked_at|country|device|ip|user_agent|sub1|sub2)": ?(?:"[^"\\\\\\x00-\\x1f]*"|(?:0|[1-9][0-9]{0,17})|null)|"(?:offer_id)": ?(?:0|[1-9][0-9]{0,17})\\.[0-9]{1,18})){0,12}\\}\\z' AND (length(raw) - length(replace(raw, '":', ''))) / 2 = int(click_id IS NOT NULL) + int(offer_id IS NOT NULL) + int(source IS NOT NULL) + int(external_id IS NOT NULL) + int(site_key IS NOT NULL) + int(user_id IS NOT NULL) + int(clicked_at IS NOT NULL) + int(country IS NOT NULL) + int(device IS NOT NULL) + int(ip IS NOT NULL) + int(user_agent IS NOT NULL) + int(sub1 IS NOT NULL) + int(sub2 IS NOT NULL) + CASE WHEN contains(raw, 'null') THEN int(click_id IS NULL AND (contains(raw, '"click_id":null') OR contains(raw, '"click_id": null'))) + int(offer_id IS NULL AND (contains(raw, '"offer_id":null') OR contains(raw, '"offer_id": null'))) + int(source IS NULL AND (contains(raw, '"source":null') OR contains(raw, '"source": null'))) + int(external_id IS NULL AND (contains(raw, '"external_id":null') OR contains(raw, '"external_id": null'))) + int(site_key IS NULL AND (contains(raw, '"site_key":null') OR contains(raw, '"site_key": null'))) + int(user_id IS NULL AND (contains(raw, '"user_id":null') OR contains(raw, '"user_id": null'))) + int(clicked_at IS NULL AND (contains(raw, '"clicked_at":null') OR contains(raw, '"clicked_at": null'))) + int(country IS NULL AND (contains(raw, '"country":null') OR contains(raw, '"country": null'))) + int(device IS NULL AND (contains(raw, '"device":null') OR contains(raw, '"device": null'))) + int(ip IS NULL AND (contains(raw, '"ip":null') OR contains(raw, '"ip": null'))) + int(user_agent IS NULL AND (contains(raw, '"user_agent":null') OR contains(raw, '"user_agent": null'))) + int(sub1 IS NULL AND (contains(raw, '"sub1":null') OR contains(raw, '"sub1": null'))) + int(sub2 IS NULL AND (contains(raw, '"sub2":null') OR contains(raw, '"sub2": null'))) ELSE 0 END)) AND click_id IS NOT NULL
        AND site_key IS NOT NULL
        AND user_id IS NOT NULL
        AND clicked_at IS NOT NULL
        AND (offer_id IS NOT NULL OR (source IS NOT NULL AND external_id IS NOT NULL))
        AND octet_length(click_id) <= 128
        AND click_id RLIKE '^[ -~]+\\z'
        AND (offer_id IS NULL OR offer_id RLIKE '^[1-9][0-9]{0,8}\\z')
        AND (source IS NULL OR octet_length(source) BETWEEN 1 AND 256)
        AND (external_id IS NULL OR octet_length(external_id) BETWEEN 1 AND 256)
        AND (site_key IS NULL OR octet_length(site_key) BETWEEN 1 AND 256)
        AND (user_id IS NULL OR octet_length(user_id) BETWEEN 1 AND 256)
        AND clicked_at RLIKE '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])\\z'
        AND clicked_at_value >= TIMESTAMP '1970-01-02 00:00:00'
        AND clicked_at_value <= TIMESTAMP '2026-11-18T12:00:00Z' + INTERVAL 24 HOURS
        AND (country IS NULL OR (country RLIKE '^[A-Za-z]+\\z' AND upper(country) IN ('AD', 'AE', 'AF', 'AG', 'AI', 'AL', 'AM', 'AO', 'AQ', 'AR', 'AS', 'AT', 'AU', 'AW', 'AX', 'AZ', 'BA', 'BB', 'BD', 'BE', 'BF', 'BG', 'BH', 'BI', 'BJ', 'BL', 'BM', 'BN', 'BO', 'BQ', 'BR', 'BS', 'BT', 'BV', 'BW', 'BY', 'BZ', 'CA', 'CC', 'CD', 'CF', 'CG', 'CH', 'CI', 'CK', 'CL', 'CM', 'CN', 'CO', 'CR', 'CU', 'CV', 'CW', 'CX', 'CY', 'CZ', 'DE', 'DJ', 'DK', 'DM', 'DO', 'DZ', 'EC', 'EE', 'EG', 'EH', 'ER', 'ES', 'ET', 'FI', 'FJ', 'FK', 'FM', 'FO', 'FR', 'GA', 'GB', 'GD', 'GE', 'GF', 'GG', 'GH', 'GI', 'GL', 'GM', 'GN', 'GP', 'GQ', 'GR', 'GS', 'GT', 'GU', 'GW', 'GY', 'HK', 'HM', 'HN', 'HR', 'HT', 'HU', 'ID', 'IE', 'IL', 'IM', 'IN', 'IO', 'IQ', 'IR', 'IS', 'IT', 'JE', 'JM', 'JO', 'JP', 'KE', 'KG', 'KH', 'KI', 'KM', 'KN', 'KP', 'KR', 'KW', 'KY', 'KZ', 'LA', 'LB', 'LC', 'LI', 'LK', 'LR', 'LS', 'LT', 'LU', 'LV', 'LY', 'MA', 'MC', 'MD', 'ME', 'MF', 'MG', 'MH', 'MK', 'ML', 'MM', 'MN', 'MO', 'MP', 'MQ', 'MR', 'MS', 'MT', 'MU', 'MV', 'MW', 'MX', 'MY', 'MZ', 'NA', 'NC', 'NE', 'NF', 'NG', 'NI', 'NL', 'NO', 'NP', 'NR', 'NU', 'NZ', 'OM', 'PA', 'PE', 'PF', 'PG', 'PH', 'PK', 'PL', 'PM', 'PN', 'PR', 'PS', 'PT', 'PW', 'PY', 'QA', 'RE', 'RO', 'RS', 'RU', 'RW', 'SA', 'SB', 'SC', 'SD', 'SE', 'SG', 'SH', 'SI', 'SJ', 'SK', 'SL', 'SM', 'SN', 'SO', 'SR', 'SS', 'ST', 'SV', 'SX', 'SY', 'SZ', 'TC', 'TD', 'TF', 'TG', 'TH', 'TJ', 'TK', 'TL', 'TM', 'TN', 'TO', 'TR', 'TT', 'TV', 'TW', 'TZ', 'UA', 'UG', 'UM', 'US', 'UY', 'UZ', 'VA', 'VC', 'VE', 'VG', 'VI', 'VN', 'VU', 'WF', 'WS', 'YE', 'YT', 'ZA', 'ZM', 'ZW')))
        AND (device IS NULL OR (device RLIKE '^[A-Za-z]+\\z' AND lower(device) IN ('android', 'ios', 'desktop'))), false) AS is_good
      FROM (
        SELECT *, try_cast(clicked_at AS TIMESTAMP) AS clicked_at_value
        FROM (
          SELECT position, file_id, block, id, raw, texts.click_id AS click_id, texts.offer_id AS offer_id, texts.source AS source, texts.external_id AS external_id, texts.site_key AS site_key, texts.user_id AS user_id, texts.clicked_at AS clicked_at, texts.country AS country, texts.device AS device, texts.ip AS ip, texts.user_agent AS user_agent, texts.sub1 AS sub1, texts.sub2 AS sub2
          FROM (SELECT *, from_json(raw, 'click_id STRING, offer_id STRING, source STRING, external_id STRING, site_key STRING, user_id STRING, clicked_at STRING, country STRING, device STRING, ip STRING, user_agent STRING, sub1 STRING, sub2 STRING') AS texts FROM lines))));

-- duplicates
WITH events AS (SELECT position, block, id, file_id, event_key, day_number, click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device, ip, user_agent, sub1, sub2, 0 AS warnings FROM parsed WHERE raw IS NULL UNION ALL SELECT position, block, id, file_id, event_key, day_number, click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device, ip, user_agent, sub1, sub2, warnings FROM odd),
        repeated AS (
          SELECT event_key FROM (SELECT event_key FROM events UNION ALL SELECT event_key FROM known)
          GROUP BY event_key HAVING count(*) > 1),
        candidates AS (
          SELECT -1 AS position, 0 AS block, 0 AS id, CAST(NULL AS BIGINT) AS file_id, event_key, click_id, struct(click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device) AS content, is_reduced AS is_reduced, struct(ip, user_agent, sub1, sub2) AS details FROM known
          UNION ALL
          SELECT position, block, id, file_id, event_key, click_id, struct(click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device) AS content, false AS is_reduced, struct(ip, user_agent, sub1, sub2) AS details FROM events LEFT SEMI JOIN repeated USING (event_key))
      SELECT position, block, id, file_id, conflict
      FROM (
        SELECT position, block, id, file_id, row_number() OVER by_arrival AS nth,
          NOT (content <=> first_value(content) OVER by_arrival) OR (NOT first_value(is_reduced) OVER by_arrival AND NOT (details <=> first_value(details) OVER by_arrival)) AS conflict
        FROM candidates
        WINDOW by_arrival AS (PARTITION BY event_key, click_id ORDER BY position, block, id))
      WHERE nth > 1 AND position >= 0;

-- days
SELECT /*+ REBALANCE(day_number) */ click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device, ip, user_agent, sub1, sub2, event_key, file_id, CAST(warnings AS SMALLINT) AS warnings, CAST(NULL AS STRING) AS reject, day_number
      FROM (SELECT position, block, id, file_id, event_key, day_number, click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device, ip, user_agent, sub1, sub2, 0 AS warnings FROM parsed WHERE raw IS NULL UNION ALL SELECT position, block, id, file_id, event_key, day_number, click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device, ip, user_agent, sub1, sub2, warnings FROM odd) LEFT ANTI JOIN duplicates USING (position, block, id);
