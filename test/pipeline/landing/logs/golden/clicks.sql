COPY (
    WITH
    -- Lines that are not blank. texts: the fields' texts, NULL where the line is not JSON.
    raw_rows AS (
      SELECT *, CASE WHEN json_valid(raw) THEN from_json(raw, '{"click_id":"VARCHAR","offer_id":"VARCHAR","source":"VARCHAR","external_id":"VARCHAR","site_key":"VARCHAR","user_id":"VARCHAR","clicked_at":"VARCHAR","country":"VARCHAR","device":"VARCHAR","ip":"VARCHAR","user_agent":"VARCHAR","sub1":"VARCHAR","sub2":"VARCHAR"}') END AS texts FROM (SELECT file_id, NULL::BIGINT AS line, raw FROM read_csv(['<data>/landing/clicks/a.ndjson'], columns = {raw: 'VARCHAR'}, delim = '\u0001\u0002', quote = '', escape = '',
    new_line = '\n', strict_mode = false, auto_detect = false, header = false, hive_partitioning = false, max_line_size = 65536, buffer_size = 4194304, filename = 'path') JOIN log_files_of_clicks USING (path)) WHERE CASE WHEN strlen(raw) > 64 THEN true ELSE trim(raw) <> '' END
    ),
    raw_texts AS (
      SELECT *, unnest(texts) FROM raw_rows
    ),
    -- is_plain: the line is written as most writers write it, so its texts need no further look.
    recognized AS (
      SELECT file_id, line, raw, texts, CASE WHEN CASE WHEN starts_with(raw, '{"click_id": ') THEN raw = concat('{"click_id": "', click_id, '"', ', "offer_id": ' || offer_id, CASE WHEN source IS NOT NULL THEN ', "source": "' END, source, CASE WHEN source IS NOT NULL THEN '"' END, CASE WHEN external_id IS NOT NULL THEN ', "external_id": "' END, external_id, CASE WHEN external_id IS NOT NULL THEN '"' END, ', "site_key": "', site_key, '", "user_id": "', user_id, '", "clicked_at": "', clicked_at, CASE WHEN country IS NOT NULL THEN '", "country": "' END, country, CASE WHEN device IS NOT NULL THEN '", "device": "' END, device, CASE WHEN ip IS NOT NULL THEN '", "ip": "' END, ip, CASE WHEN user_agent IS NOT NULL THEN '", "user_agent": "' END, user_agent, CASE WHEN sub1 IS NOT NULL THEN '", "sub1": "' END, sub1, CASE WHEN sub2 IS NOT NULL THEN '", "sub2": "' END, sub2, '"}') ELSE raw = concat('{"click_id":"', click_id, '"', ',"offer_id":' || offer_id, CASE WHEN source IS NOT NULL THEN ',"source":"' END, source, CASE WHEN source IS NOT NULL THEN '"' END, CASE WHEN external_id IS NOT NULL THEN ',"external_id":"' END, external_id, CASE WHEN external_id IS NOT NULL THEN '"' END, ',"site_key":"', site_key, '","user_id":"', user_id, '","clicked_at":"', clicked_at, CASE WHEN country IS NOT NULL THEN '","country":"' END, country, CASE WHEN device IS NOT NULL THEN '","device":"' END, device, CASE WHEN ip IS NOT NULL THEN '","ip":"' END, ip, CASE WHEN user_agent IS NOT NULL THEN '","user_agent":"' END, user_agent, CASE WHEN sub1 IS NOT NULL THEN '","sub1":"' END, sub1, CASE WHEN sub2 IS NOT NULL THEN '","sub2":"' END, sub2, '"}') END AND (offer_id IS NULL OR TRY_CAST(offer_id AS INTEGER)::VARCHAR = offer_id) THEN true
                  WHEN regexp_full_match(raw, '\{(?:"(?:click_id|offer_id|source|external_id|site_key|user_id|clicked_at|country|device|ip|user_agent|sub1|sub2)": ?(?:"[^"\\\x00-\x1f]*"|(?:0|[1-9][0-9]{0,17}))|"(?:offer_id)": ?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18})(?:, ?(?:"(?:click_id|offer_id|source|external_id|site_key|user_id|clicked_at|country|device|ip|user_agent|sub1|sub2)": ?(?:"[^"\\\x00-\x1f]*"|(?:0|[1-9][0-9]{0,17}))|"(?:offer_id)": ?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18}))*\}') THEN len(json_keys(raw)) = (click_id IS NOT NULL)::INTEGER + (offer_id IS NOT NULL)::INTEGER + (source IS NOT NULL)::INTEGER + (external_id IS NOT NULL)::INTEGER + (site_key IS NOT NULL)::INTEGER + (user_id IS NOT NULL)::INTEGER + (clicked_at IS NOT NULL)::INTEGER + (country IS NOT NULL)::INTEGER + (device IS NOT NULL)::INTEGER + (ip IS NOT NULL)::INTEGER + (user_agent IS NOT NULL)::INTEGER + (sub1 IS NOT NULL)::INTEGER + (sub2 IS NOT NULL)::INTEGER ELSE false END AS is_plain FROM raw_texts
    ),
    -- record: the line with each half of a surrogate replaced.
    repaired AS (
      SELECT *, CASE WHEN is_plain THEN raw WHEN regexp_matches(raw, '\\u[dD][89a-fA-F]') THEN array_to_string(list_transform(regexp_extract_all(raw, '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+|\\'), lambda part: CASE WHEN regexp_full_match(part, '\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}') THEN '\ufffd' ELSE part END), '') ELSE raw END AS record
      FROM recognized
    ),
    objects AS (
      SELECT *, CASE WHEN is_plain THEN true ELSE json_valid(record) AND starts_with(ltrim(record, chr(9) || ' '), '{') END AS is_object
      FROM repaired
    ),
    -- Texts of the fields, each under the field's name.
    parsed AS (
      SELECT file_id, line, raw, record, is_plain, is_object,
        unnest(CASE WHEN is_plain THEN texts ELSE from_json(CASE WHEN is_object THEN CASE WHEN contains(record, '"\\N"') THEN regexp_replace(record, ':\s*"\\\\N"', ':null', 'g') ELSE record END END, '{"click_id":"VARCHAR","offer_id":"VARCHAR","source":"VARCHAR","external_id":"VARCHAR","site_key":"VARCHAR","user_id":"VARCHAR","clicked_at":"VARCHAR","country":"VARCHAR","device":"VARCHAR","ip":"VARCHAR","user_agent":"VARCHAR","sub1":"VARCHAR","sub2":"VARCHAR"}') END)
      FROM objects
    ),
    -- <field>_value: the typed value.
    typed AS (
      SELECT *,
        click_id AS click_id_value,
        TRY_CAST(offer_id AS INTEGER) AS offer_id_value,
        source AS source_value,
        external_id AS external_id_value,
        site_key AS site_key_value,
        user_id AS user_id_value,
        CASE WHEN regexp_full_match(clicked_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-](0[0-9]|1[0-7]):[0-5][0-9]|[+-]18:00)') THEN coalesce(TRY_CAST(clicked_at AS TIMESTAMPTZ), TRY_CAST(upper(clicked_at) AS TIMESTAMPTZ), CASE WHEN contains(clicked_at, ':60') AND date_trunc('month', timezone('UTC', TRY_CAST(regexp_replace(upper(clicked_at), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND) = timezone('UTC', TRY_CAST(regexp_replace(upper(clicked_at), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND THEN TRY_CAST(regexp_replace(upper(clicked_at), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ) END) WHEN regexp_full_match(clicked_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?( ?((?i:Z|UTC|GMT)|[+-](0[0-9]|1[0-7])(:?[0-5][0-9])?|[+-]18(:?00)?))') THEN coalesce(TRY_CAST(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(clicked_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3') AS TIMESTAMPTZ), TRY_CAST(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(clicked_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')) AS TIMESTAMPTZ), CASE WHEN contains(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(clicked_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3'), ':60') AND date_trunc('month', timezone('UTC', TRY_CAST(regexp_replace(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(clicked_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND) = timezone('UTC', TRY_CAST(regexp_replace(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(clicked_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND THEN TRY_CAST(regexp_replace(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(clicked_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ) END) ELSE CASE WHEN regexp_extract(clicked_at, '^([0-9]{10}(?:[0-9]{3}){0,3})(?:\.0+)?$', 1) <> '' THEN make_timestamptz(left(rpad(regexp_extract(clicked_at, '^([0-9]{10}(?:[0-9]{3}){0,3})(?:\.0+)?$', 1), 16, '0'), 16)::BIGINT) END END AS clicked_at_value,
        TRY_CAST(upper(country) AS ENUM('AD', 'AE', 'AF', 'AG', 'AI', 'AL', 'AM', 'AO', 'AQ', 'AR', 'AS', 'AT', 'AU', 'AW', 'AX', 'AZ', 'BA', 'BB', 'BD', 'BE', 'BF', 'BG', 'BH', 'BI', 'BJ', 'BL', 'BM', 'BN', 'BO', 'BQ', 'BR', 'BS', 'BT', 'BV', 'BW', 'BY', 'BZ', 'CA', 'CC', 'CD', 'CF', 'CG', 'CH', 'CI', 'CK', 'CL', 'CM', 'CN', 'CO', 'CR', 'CU', 'CV', 'CW', 'CX', 'CY', 'CZ', 'DE', 'DJ', 'DK', 'DM', 'DO', 'DZ', 'EC', 'EE', 'EG', 'EH', 'ER', 'ES', 'ET', 'FI', 'FJ', 'FK', 'FM', 'FO', 'FR', 'GA', 'GB', 'GD', 'GE', 'GF', 'GG', 'GH', 'GI', 'GL', 'GM', 'GN', 'GP', 'GQ', 'GR', 'GS', 'GT', 'GU', 'GW', 'GY', 'HK', 'HM', 'HN', 'HR', 'HT', 'HU', 'ID', 'IE', 'IL', 'IM', 'IN', 'IO', 'IQ', 'IR', 'IS', 'IT', 'JE', 'JM', 'JO', 'JP', 'KE', 'KG', 'KH', 'KI', 'KM', 'KN', 'KP', 'KR', 'KW', 'KY', 'KZ', 'LA', 'LB', 'LC', 'LI', 'LK', 'LR', 'LS', 'LT', 'LU', 'LV', 'LY', 'MA', 'MC', 'MD', 'ME', 'MF', 'MG', 'MH', 'MK', 'ML', 'MM', 'MN', 'MO', 'MP', 'MQ', 'MR', 'MS', 'MT', 'MU', 'MV', 'MW', 'MX', 'MY', 'MZ', 'NA', 'NC', 'NE', 'NF', 'NG', 'NI', 'NL', 'NO', 'NP', 'NR', 'NU', 'NZ', 'OM', 'PA', 'PE', 'PF', 'PG', 'PH', 'PK', 'PL', 'PM', 'PN', 'PR', 'PS', 'PT', 'PW', 'PY', 'QA', 'RE', 'RO', 'RS', 'RU', 'RW', 'SA', 'SB', 'SC', 'SD', 'SE', 'SG', 'SH', 'SI', 'SJ', 'SK', 'SL', 'SM', 'SN', 'SO', 'SR', 'SS', 'ST', 'SV', 'SX', 'SY', 'SZ', 'TC', 'TD', 'TF', 'TG', 'TH', 'TJ', 'TK', 'TL', 'TM', 'TN', 'TO', 'TR', 'TT', 'TV', 'TW', 'TZ', 'UA', 'UG', 'UM', 'US', 'UY', 'UZ', 'VA', 'VC', 'VE', 'VG', 'VI', 'VN', 'VU', 'WF', 'WS', 'YE', 'YT', 'ZA', 'ZM', 'ZW'))::VARCHAR AS country_value,
        TRY_CAST(lower(device) AS ENUM('android', 'ios', 'desktop'))::VARCHAR AS device_value,
        CASE WHEN is_plain OR NOT contains(ip, chr(0)) THEN ip END AS ip_value,
        CASE WHEN is_plain OR NOT contains(user_agent, chr(0)) THEN user_agent END AS user_agent_value,
        CASE WHEN is_plain OR NOT contains(sub1, chr(0)) THEN sub1 END AS sub1_value,
        CASE WHEN is_plain OR NOT contains(sub2, chr(0)) THEN sub2 END AS sub2_value
      FROM parsed
    ),
    -- fault: the reason to reject the row; warnings: bits of what was dropped or replaced in it.
    judged AS (
      SELECT *,
        CASE WHEN is_plain THEN CASE
          WHEN click_id IS NULL THEN 'missing_click_id'
          WHEN strlen(click_id) NOT BETWEEN 1 AND 128 OR strlen(click_id) <> length(click_id) OR contains(click_id, chr(127)) THEN 'bad_click_id'
          WHEN offer_id IS NULL AND (source IS NULL OR external_id IS NULL) THEN 'missing_offer'
          WHEN offer_id IS NOT NULL AND (offer_id_value IS NULL OR offer_id_value < 1 OR NOT regexp_full_match(offer_id, '[0-9]+(\.0+)?')) THEN 'bad_offer_id'
          WHEN length(source) NOT BETWEEN 1 AND 256 THEN 'bad_source'
          WHEN length(external_id) NOT BETWEEN 1 AND 256 THEN 'bad_external_id'
          WHEN site_key IS NULL THEN 'missing_site_key'
          WHEN length(site_key) NOT BETWEEN 1 AND 256 THEN 'bad_site_key'
          WHEN user_id IS NULL THEN 'missing_user_id'
          WHEN length(user_id) NOT BETWEEN 1 AND 256 THEN 'bad_user_id'
          WHEN clicked_at IS NULL THEN 'missing_clicked_at'
          WHEN CASE WHEN clicked_at_value IS NULL THEN regexp_full_match(clicked_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?') END THEN 'timestamp_without_offset'
          WHEN clicked_at_value IS NULL OR clicked_at_value < TIMESTAMPTZ '0001-01-01 00:00:00+00' THEN 'bad_clicked_at'
          WHEN clicked_at_value > TIMESTAMPTZ '2026-11-20T00:00:00Z' + INTERVAL 24 HOURS THEN 'future_timestamp' END
        ELSE CASE
          WHEN NOT is_object OR regexp_matches(regexp_replace(record, '"([^"\\]|\\.)*"', '""', 'g'), ',\s*[}\]]|[nN]a[nN]|[iI]nf|/[*/]') THEN 'not_json_object'
          WHEN len(json_keys(record)) <> len(list_distinct(json_keys(record))) THEN 'duplicate_key'
          WHEN CASE WHEN contains(record, '"~reject":') THEN TRY(json_extract_string(record, '$."~reject"')) END IS NOT NULL THEN CASE WHEN contains(record, '"~reject":') THEN TRY(json_extract_string(record, '$."~reject"')) END
          WHEN click_id IS NULL THEN 'missing_click_id'
          WHEN strlen(click_id) NOT BETWEEN 1 AND 128 OR strlen(click_id) <> length(click_id) OR contains(click_id, chr(127)) THEN 'bad_click_id'
          WHEN NOT regexp_full_match(click_id, '[\x20-\x7e]+') THEN 'bad_click_id'
          WHEN CASE WHEN click_id IS NOT NULL THEN (record <> raw AND contains(click_id, chr(65533)))
    OR (json_type(record, '$.click_id') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.click_id') = 'DOUBLE' AND regexp_full_match(click_id, '-?[0-9]+'))) END THEN 'bad_click_id'
          WHEN offer_id IS NULL AND (source IS NULL OR external_id IS NULL) THEN 'missing_offer'
          WHEN offer_id IS NOT NULL AND (offer_id_value IS NULL OR offer_id_value < 1 OR NOT regexp_full_match(offer_id, '[0-9]+(\.0+)?')) THEN 'bad_offer_id'
          WHEN length(source) NOT BETWEEN 1 AND 256 THEN 'bad_source'
          WHEN contains(source, chr(0)) THEN 'bad_source'
          WHEN CASE WHEN source IS NOT NULL THEN (record <> raw AND contains(source, chr(65533)))
    OR (json_type(record, '$.source') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.source') = 'DOUBLE' AND regexp_full_match(source, '-?[0-9]+'))) END THEN 'bad_source'
          WHEN length(external_id) NOT BETWEEN 1 AND 256 THEN 'bad_external_id'
          WHEN contains(external_id, chr(0)) THEN 'bad_external_id'
          WHEN CASE WHEN external_id IS NOT NULL THEN (record <> raw AND contains(external_id, chr(65533)))
    OR (json_type(record, '$.external_id') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.external_id') = 'DOUBLE' AND regexp_full_match(external_id, '-?[0-9]+'))) END THEN 'bad_external_id'
          WHEN site_key IS NULL THEN 'missing_site_key'
          WHEN length(site_key) NOT BETWEEN 1 AND 256 THEN 'bad_site_key'
          WHEN contains(site_key, chr(0)) THEN 'bad_site_key'
          WHEN CASE WHEN site_key IS NOT NULL THEN (record <> raw AND contains(site_key, chr(65533)))
    OR (json_type(record, '$.site_key') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.site_key') = 'DOUBLE' AND regexp_full_match(site_key, '-?[0-9]+'))) END THEN 'bad_site_key'
          WHEN user_id IS NULL THEN 'missing_user_id'
          WHEN length(user_id) NOT BETWEEN 1 AND 256 THEN 'bad_user_id'
          WHEN contains(user_id, chr(0)) THEN 'bad_user_id'
          WHEN CASE WHEN user_id IS NOT NULL THEN (record <> raw AND contains(user_id, chr(65533)))
    OR (json_type(record, '$.user_id') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.user_id') = 'DOUBLE' AND regexp_full_match(user_id, '-?[0-9]+'))) END THEN 'bad_user_id'
          WHEN clicked_at IS NULL THEN 'missing_clicked_at'
          WHEN CASE WHEN clicked_at_value IS NULL THEN regexp_full_match(clicked_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?') END THEN 'timestamp_without_offset'
          WHEN clicked_at_value IS NULL OR clicked_at_value < TIMESTAMPTZ '0001-01-01 00:00:00+00' THEN 'bad_clicked_at'
          WHEN clicked_at_value > TIMESTAMPTZ '2026-11-20T00:00:00Z' + INTERVAL 24 HOURS THEN 'future_timestamp' END
        END AS fault,
        (CASE WHEN is_plain THEN 0
          ELSE CASE WHEN is_object THEN CASE WHEN len(list_filter(json_keys(record), lambda key: key NOT IN ('click_id', 'offer_id', 'source', 'external_id', 'site_key', 'user_id', 'clicked_at', 'country', 'device', 'ip', 'user_agent', 'sub1', 'sub2', '~raw', '~reject'))) > 0 THEN 1 ELSE 0 END ELSE 0 END + CASE WHEN record <> raw THEN 128 ELSE 0 END END
          + CASE WHEN country IS NOT NULL AND country_value IS NULL THEN 2 ELSE 0 END
          + CASE WHEN device IS NOT NULL AND device_value IS NULL THEN 4 ELSE 0 END
          + CASE WHEN ip IS NOT NULL AND ip_value IS NULL THEN 8 ELSE 0 END
          + CASE WHEN user_agent IS NOT NULL AND user_agent_value IS NULL THEN 16 ELSE 0 END
          + CASE WHEN sub1 IS NOT NULL AND sub1_value IS NULL THEN 32 ELSE 0 END
          + CASE WHEN sub2 IS NOT NULL AND sub2_value IS NULL THEN 64 ELSE 0 END)::UTINYINT AS warnings
      FROM typed
    ),
    -- shown: of a rejected row the record as it lay there.
    shown_rows AS (
      SELECT *, CASE WHEN fault IS NOT NULL THEN CASE WHEN starts_with(raw, '{"~raw":') THEN coalesce(TRY(json_extract_string(raw, '$."~raw"')), raw) ELSE raw END END AS shown FROM judged
    ),
    events AS (
      SELECT file_id, line, click_id_value AS click_id, offer_id_value AS offer_id, source_value AS source, external_id_value AS external_id, site_key_value AS site_key, user_id_value AS user_id, clicked_at_value AS clicked_at, country_value AS country, device_value AS device, ip_value AS ip, user_agent_value AS user_agent, sub1_value AS sub1, sub2_value AS sub2, warnings,
        CASE WHEN fault IS NOT NULL THEN json_object('line', line, 'reason', fault, 'raw', left(shown, 2000), 'raw_length', length(shown),
          'digest', CASE WHEN length(shown) > 2000 THEN sha256(shown) END)::VARCHAR END AS reject
      FROM shown_rows
    )
    SELECT click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device, ip, user_agent, sub1, sub2, (((((((((((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) & 281470681808895::UBIGINT) << 16) | ((((((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) >> 16) & 281470681808895::UBIGINT)) & 4294967295::UBIGINT) << 32) | ((((((((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) & 281470681808895::UBIGINT) << 16) | ((((((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(click_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) >> 16) & 281470681808895::UBIGINT)) >> 32)) >> 4)::BIGINT AS event_key, file_id, warnings, reject,
      CASE WHEN reject IS NULL THEN (epoch_us(clicked_at) - -62135596800000000) // 86400000000 END AS day_number
    FROM events) TO '<data>/warehouse/scratch/staged-clicks/0' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 16384, PARTITION_BY (day_number), OVERWRITE_OR_IGNORE)
