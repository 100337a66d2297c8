COPY (
    WITH
    -- Lines that are not blank. texts: the fields' texts, NULL where the line is not JSON.
    raw_rows AS (
      SELECT *, CASE WHEN json_valid(raw) THEN from_json(raw, '{"conversion_id":"VARCHAR","click_id":"VARCHAR","kind":"VARCHAR","occurred_at":"VARCHAR","event_id":"VARCHAR","payout":"VARCHAR","reason":"VARCHAR"}') END AS texts FROM (SELECT file_id, NULL::BIGINT AS line, raw FROM read_csv(['<data>/landing/conversions/a.ndjson'], columns = {raw: 'VARCHAR'}, delim = '\u0001\u0002', quote = '', escape = '',
    new_line = '\n', strict_mode = false, auto_detect = false, header = false, hive_partitioning = false, max_line_size = 65536, buffer_size = 4194304, filename = 'path') JOIN log_files_of_conversions USING (path)) WHERE CASE WHEN strlen(raw) > 64 THEN true ELSE trim(raw) <> '' END
    ),
    raw_texts AS (
      SELECT *, unnest(texts) FROM raw_rows
    ),
    -- is_plain: the line is written as most writers write it, so its texts need no further look.
    recognized AS (
      SELECT file_id, line, raw, texts, CASE WHEN CASE WHEN starts_with(raw, '{"conversion_id": ') THEN raw = concat('{"conversion_id": "', conversion_id, '", "click_id": "', click_id, '", "kind": "', kind, '", "occurred_at": "', occurred_at, CASE WHEN event_id IS NOT NULL THEN '", "event_id": "' END, event_id, '"', ', "payout": ' || payout, CASE WHEN reason IS NOT NULL THEN ', "reason": "' END, reason, CASE WHEN reason IS NOT NULL THEN '"' END, '}') ELSE raw = concat('{"conversion_id":"', conversion_id, '","click_id":"', click_id, '","kind":"', kind, '","occurred_at":"', occurred_at, CASE WHEN event_id IS NOT NULL THEN '","event_id":"' END, event_id, '"', ',"payout":' || payout, CASE WHEN reason IS NOT NULL THEN ',"reason":"' END, reason, CASE WHEN reason IS NOT NULL THEN '"' END, '}') END AND (payout IS NULL OR regexp_full_match(payout, '[0-9]{1,18}(\.[0-9]{1,18})?')) THEN true
                  WHEN regexp_full_match(raw, '\{(?:"(?:conversion_id|click_id|kind|occurred_at|event_id|payout|reason)": ?(?:"[^"\\\x00-\x1f]*"|(?:0|[1-9][0-9]{0,17}))|"(?:payout)": ?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18})(?:, ?(?:"(?:conversion_id|click_id|kind|occurred_at|event_id|payout|reason)": ?(?:"[^"\\\x00-\x1f]*"|(?:0|[1-9][0-9]{0,17}))|"(?:payout)": ?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18}))*\}') THEN len(json_keys(raw)) = (conversion_id IS NOT NULL)::INTEGER + (click_id IS NOT NULL)::INTEGER + (kind IS NOT NULL)::INTEGER + (occurred_at IS NOT NULL)::INTEGER + (event_id IS NOT NULL)::INTEGER + (payout IS NOT NULL)::INTEGER + (reason IS NOT NULL)::INTEGER ELSE false END AS is_plain FROM raw_texts
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
        unnest(CASE WHEN is_plain THEN texts ELSE from_json(CASE WHEN is_object THEN CASE WHEN contains(record, '"\\N"') THEN regexp_replace(record, ':\s*"\\\\N"', ':null', 'g') ELSE record END END, '{"conversion_id":"VARCHAR","click_id":"VARCHAR","kind":"VARCHAR","occurred_at":"VARCHAR","event_id":"VARCHAR","payout":"VARCHAR","reason":"VARCHAR"}') END)
      FROM objects
    ),
    -- <field>_value: the typed value.
    typed AS (
      SELECT *,
        conversion_id AS conversion_id_value,
        click_id AS click_id_value,
        kind AS kind_value,
        CASE WHEN regexp_full_match(occurred_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-](0[0-9]|1[0-7]):[0-5][0-9]|[+-]18:00)') THEN coalesce(TRY_CAST(occurred_at AS TIMESTAMPTZ), TRY_CAST(upper(occurred_at) AS TIMESTAMPTZ), CASE WHEN contains(occurred_at, ':60') AND date_trunc('month', timezone('UTC', TRY_CAST(regexp_replace(upper(occurred_at), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND) = timezone('UTC', TRY_CAST(regexp_replace(upper(occurred_at), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND THEN TRY_CAST(regexp_replace(upper(occurred_at), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ) END) WHEN regexp_full_match(occurred_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?( ?((?i:Z|UTC|GMT)|[+-](0[0-9]|1[0-7])(:?[0-5][0-9])?|[+-]18(:?00)?))') THEN coalesce(TRY_CAST(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(occurred_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3') AS TIMESTAMPTZ), TRY_CAST(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(occurred_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')) AS TIMESTAMPTZ), CASE WHEN contains(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(occurred_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3'), ':60') AND date_trunc('month', timezone('UTC', TRY_CAST(regexp_replace(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(occurred_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND) = timezone('UTC', TRY_CAST(regexp_replace(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(occurred_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ)) + INTERVAL 1 MICROSECOND THEN TRY_CAST(regexp_replace(upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(upper(occurred_at), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\1:00\2'), ' ?(?:Z|UTC|GMT)$', 'Z'), '(:[0-9.]+) ?([+-][0-9]{2})$', '\1\2:00'), '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\1\2:\3')), ':60(\.[0-9]+)?', ':59.999999') AS TIMESTAMPTZ) END) ELSE CASE WHEN regexp_extract(occurred_at, '^([0-9]{10}(?:[0-9]{3}){0,3})(?:\.0+)?$', 1) <> '' THEN make_timestamptz(left(rpad(regexp_extract(occurred_at, '^([0-9]{10}(?:[0-9]{3}){0,3})(?:\.0+)?$', 1), 16, '0'), 16)::BIGINT) END END AS occurred_at_value,
        event_id AS event_id_value,
        CASE WHEN regexp_full_match(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, '[0-9]{1,9}(\.[0-9]{1,6})?') THEN TRY_CAST(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END AS DECIMAL(15, 6)) ELSE CASE WHEN (regexp_full_match(trim(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, ' ' || chr(9)), '\+?(?:[0-9]{1,18}(?:\.[0-9]{1,40})?|\.[0-9]{1,40})') AND regexp_full_match(regexp_replace(trim(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, ' ' || chr(9)), '(\.[0-9]*?)0+$', '\1'), '[^.]*(?:\.[0-9]{0,6})?')) OR regexp_full_match(trim(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, ' ' || chr(9)), '\+?(?:[0-9]{1,18}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})[eE][+-]?0?[0-9]')
      THEN CASE WHEN TRY_CAST('0' || ltrim(rtrim(regexp_replace(trim(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, ' ' || chr(9)), '(\.[0-9]*?)0+$', '\1'), '.'), '+') AS DECIMAL(38, 18)) < 1000000000 AND TRY_CAST('0' || ltrim(rtrim(regexp_replace(trim(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, ' ' || chr(9)), '(\.[0-9]*?)0+$', '\1'), '.'), '+') AS DECIMAL(38, 18)) = round(TRY_CAST('0' || ltrim(rtrim(regexp_replace(trim(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, ' ' || chr(9)), '(\.[0-9]*?)0+$', '\1'), '.'), '+') AS DECIMAL(38, 18)), 6) THEN TRY_CAST('0' || ltrim(rtrim(regexp_replace(trim(CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), ''), payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))) = 1 THEN list_distinct(list_filter(regexp_extract_all(record, '"payout"\s*:\s*(-?[0-9][0-9.eE+-]*)', 1), lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))[1] END, ' ' || chr(9)), '(\.[0-9]*?)0+$', '\1'), '.'), '+') AS DECIMAL(38, 18))::DECIMAL(15, 6) END END END AS payout_value,
        CASE WHEN is_plain OR NOT contains(reason, chr(0)) THEN reason END AS reason_value
      FROM parsed
    ),
    -- fault: the reason to reject the row; warnings: bits of what was dropped or replaced in it.
    judged AS (
      SELECT *,
        CASE WHEN is_plain THEN CASE
          WHEN conversion_id IS NULL THEN 'missing_conversion_id'
          WHEN strlen(conversion_id) NOT BETWEEN 1 AND 128 OR strlen(conversion_id) <> length(conversion_id) OR contains(conversion_id, chr(127)) THEN 'bad_conversion_id'
          WHEN click_id IS NULL THEN 'missing_click_id'
          WHEN strlen(click_id) NOT BETWEEN 1 AND 128 OR strlen(click_id) <> length(click_id) OR contains(click_id, chr(127)) THEN 'bad_click_id'
          WHEN kind IS NULL THEN 'missing_kind'
          WHEN kind NOT IN ('pending', 'credit', 'reject', 'chargeback') THEN 'bad_kind'
          WHEN occurred_at IS NULL THEN 'missing_occurred_at'
          WHEN CASE WHEN occurred_at_value IS NULL THEN regexp_full_match(occurred_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?') END THEN 'timestamp_without_offset'
          WHEN occurred_at_value IS NULL OR occurred_at_value < TIMESTAMPTZ '0001-01-01 00:00:00+00' THEN 'bad_occurred_at'
          WHEN occurred_at_value > TIMESTAMPTZ '2026-11-20T00:00:00Z' + INTERVAL 24 HOURS THEN 'future_timestamp'
          WHEN length(event_id) NOT BETWEEN 1 AND 256 THEN 'bad_event_id'
          WHEN payout IS NOT NULL AND payout_value IS NULL THEN 'bad_payout' END
        ELSE CASE
          WHEN NOT is_object OR regexp_matches(regexp_replace(record, '"([^"\\]|\\.)*"', '""', 'g'), ',\s*[}\]]|[nN]a[nN]|[iI]nf|/[*/]') THEN 'not_json_object'
          WHEN len(json_keys(record)) <> len(list_distinct(json_keys(record))) THEN 'duplicate_key'
          WHEN CASE WHEN contains(record, '"~reject":') THEN TRY(json_extract_string(record, '$."~reject"')) END IS NOT NULL THEN CASE WHEN contains(record, '"~reject":') THEN TRY(json_extract_string(record, '$."~reject"')) END
          WHEN conversion_id IS NULL THEN 'missing_conversion_id'
          WHEN strlen(conversion_id) NOT BETWEEN 1 AND 128 OR strlen(conversion_id) <> length(conversion_id) OR contains(conversion_id, chr(127)) THEN 'bad_conversion_id'
          WHEN NOT regexp_full_match(conversion_id, '[\x20-\x7e]+') THEN 'bad_conversion_id'
          WHEN CASE WHEN conversion_id IS NOT NULL THEN (record <> raw AND contains(conversion_id, chr(65533)))
    OR (json_type(record, '$.conversion_id') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.conversion_id') = 'DOUBLE' AND regexp_full_match(conversion_id, '-?[0-9]+'))) END THEN 'bad_conversion_id'
          WHEN click_id IS NULL THEN 'missing_click_id'
          WHEN strlen(click_id) NOT BETWEEN 1 AND 128 OR strlen(click_id) <> length(click_id) OR contains(click_id, chr(127)) THEN 'bad_click_id'
          WHEN NOT regexp_full_match(click_id, '[\x20-\x7e]+') THEN 'bad_click_id'
          WHEN CASE WHEN click_id IS NOT NULL THEN (record <> raw AND contains(click_id, chr(65533)))
    OR (json_type(record, '$.click_id') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.click_id') = 'DOUBLE' AND regexp_full_match(click_id, '-?[0-9]+'))) END THEN 'bad_click_id'
          WHEN kind IS NULL THEN 'missing_kind'
          WHEN kind NOT IN ('pending', 'credit', 'reject', 'chargeback') THEN 'bad_kind'
          WHEN occurred_at IS NULL THEN 'missing_occurred_at'
          WHEN CASE WHEN occurred_at_value IS NULL THEN regexp_full_match(occurred_at, '[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?') END THEN 'timestamp_without_offset'
          WHEN occurred_at_value IS NULL OR occurred_at_value < TIMESTAMPTZ '0001-01-01 00:00:00+00' THEN 'bad_occurred_at'
          WHEN occurred_at_value > TIMESTAMPTZ '2026-11-20T00:00:00Z' + INTERVAL 24 HOURS THEN 'future_timestamp'
          WHEN length(event_id) NOT BETWEEN 1 AND 256 THEN 'bad_event_id'
          WHEN contains(event_id, chr(0)) THEN 'bad_event_id'
          WHEN CASE WHEN event_id IS NOT NULL THEN (record <> raw AND contains(event_id, chr(65533)))
    OR (json_type(record, '$.event_id') NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (json_type(record, '$.event_id') = 'DOUBLE' AND regexp_full_match(event_id, '-?[0-9]+'))) END THEN 'bad_event_id'
          WHEN payout IS NOT NULL AND payout_value IS NULL THEN 'bad_payout' END
        END AS fault,
        (CASE WHEN is_plain THEN 0
          ELSE CASE WHEN is_object THEN CASE WHEN len(list_filter(json_keys(record), lambda key: key NOT IN ('conversion_id', 'click_id', 'kind', 'occurred_at', 'event_id', 'payout', 'reason', '~raw', '~reject'))) > 0 THEN 1 ELSE 0 END ELSE 0 END + CASE WHEN record <> raw THEN 128 ELSE 0 END END
          + CASE WHEN reason IS NOT NULL AND reason_value IS NULL THEN 2 ELSE 0 END)::UTINYINT AS warnings
      FROM typed
    ),
    -- shown: of a rejected row the record as it lay there.
    shown_rows AS (
      SELECT *, CASE WHEN fault IS NOT NULL THEN CASE WHEN starts_with(raw, '{"~raw":') THEN coalesce(TRY(json_extract_string(raw, '$."~raw"')), raw) ELSE raw END END AS shown FROM judged
    ),
    events AS (
      SELECT file_id, line, conversion_id_value AS conversion_id, click_id_value AS click_id, kind_value AS kind, occurred_at_value AS occurred_at, event_id_value AS event_id, payout_value AS payout, reason_value AS reason, warnings,
        CASE WHEN fault IS NOT NULL THEN json_object('line', line, 'reason', fault, 'raw', left(shown, 2000), 'raw_length', length(shown),
          'digest', CASE WHEN length(shown) > 2000 THEN sha256(shown) END)::VARCHAR END AS reject
      FROM shown_rows
    )
    SELECT conversion_id, click_id, kind, occurred_at, event_id, payout, reason, (((((((((((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) & 281470681808895::UBIGINT) << 16) | ((((((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) >> 16) & 281470681808895::UBIGINT)) & 4294967295::UBIGINT) << 32) | ((((((((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) & 281470681808895::UBIGINT) << 16) | ((((((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT & 71777214294589695::UBIGINT) << 8) | (((md5_number(kind || ':' || conversion_id) & 18446744073709551615::UHUGEINT)::UBIGINT >> 8) & 71777214294589695::UBIGINT)) >> 16) & 281470681808895::UBIGINT)) >> 32)) >> 4)::BIGINT AS event_key, file_id, warnings, reject,
      CASE WHEN reject IS NULL THEN (epoch_us(occurred_at) - -62135596800000000) // 86400000000 END AS day_number
    FROM events) TO '<data>/warehouse/scratch/staged-conversions/0' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 16384, PARTITION_BY (day_number), OVERWRITE_OR_IGNORE)
