// Generated from the models of sql/ by src/pipeline/sql/generate-model-rows.ts: do not edit, generate it again.

/**
 * Rows of the models by folder and name. `duckdb/dialect/rows.ts` maps column types to JavaScript. Headers name the
 * columns that may be null; without that line all but the key may be. A query casts a number that JavaScript cannot
 * hold to VARCHAR.
 */
export interface ModelRows {
  marts: {
    clicks: {
      click_id: string;
      offer_id: number | null;
      source: string | null;
      external_id: string | null;
      site_key: string;
      user_id: string;
      clicked_at: string;
      country: string | null;
      device: string | null;
      ip: string | null;
      user_agent: string | null;
      sub1: string | null;
      sub2: string | null;
      file_id: number;
      event_key: number;
    };
    conversions: {
      conversion_id: string;
      click_id: string;
      status: string;
      offer_id: number | null;
      source: string | null;
      site_key: string | null;
      user_id: string | null;
      country: string | null;
      device: string | null;
      event_id: string | null;
      payout: string | null;
      credited_at: string | null;
      reversed_at: string | null;
      reason: string | null;
      clicked_at: string | null;
      occurred_at: string;
      changed_at: string;
    };
    delivery_sites: {
      site_key: string;
      waiting: number;
      failing: number;
      dead: number;
      oldest_waiting_at: string | null;
    };
    delivery_summary: {
      pending: number;
      delivered: number;
      dead: number;
      attempts: number;
      failed_attempts: number;
      oldest_pending_at: string | null;
      lag_seconds_p95: number | null;
    };
    feed_offers: {
      offer_id: number;
      source: string;
      external_id: string;
      status: string;
      title: string;
      titles: string;
      descriptions: string;
      payout: string;
      currency: string | null;
      currency_rate: string | null;
      is_multireward: boolean;
      events: string;
      image_name: string;
      image_source: string;
      level: string;
      stars: number;
      categories: string[];
      countries: string[];
      devices: string[];
      payment_term: string;
      android_min_os: string | null;
      ios_min_os: string | null;
      preview_url: string | null;
      tracking_type: string;
      report_category: string;
      formats: string[];
      daily_cap: number | null;
      daily_click_cap: number | null;
      multi_complete: boolean;
      version: number;
      created_at: string;
      updated_at: string;
      removed_at: string | null;
      capped_at: string | null;
      uncapped_at: string | null;
      epc: string | null;
      cvr: string | null;
      trend: string | null;
      rank: number | null;
    };
    ingest_files: {
      file_id: number;
      path: string;
      kind: string;
      source: string | null;
      sha256: string;
      bytes: number;
      rows: number;
      accepted: number;
      duplicates: number;
      conflicts: number;
      rejected: number;
      warnings: number;
      status: string;
      reason: string | null;
      run_id: number;
      ingested_at: string;
    };
    ingest_warnings: {
      file_id: number;
      warning: string;
      field: string | null;
      rows: number;
    };
    lineage: {
      table_name: string;
      layer: string;
      input: string;
      input_layer: string;
    };
    metrics: {
      metric: string;
      definition: string;
      unit: string;
      grain: string;
      served_as: string;
      sql: string;
    };
    network_hourly: {
      hour: string;
      clicks: number;
      conversions: number;
      earnings: string;
    };
    newest_events: {
      kind: string;
      source: string | null;
      newest_event_at: string | null;
      newest_ingested_at: string;
    };
    offer_daily: {
      day: string;
      offer_id: number;
      clicks: number;
      conversions: number;
      converted_clicks: number;
      earnings: string;
      epc: string;
      cvr: string;
    };
    offer_history: {
      offer_id: number;
      version: number;
      valid_from: string;
      valid_to: string | null;
      status: string;
      payout: string;
      currency: string | null;
      currency_rate: string | null;
      titles: string;
      descriptions: string;
      events: string;
      level: string;
      stars: number;
      categories: string[];
      countries: string[];
      devices: string[];
      payment_term: string;
      tracking_type: string;
      report_category: string;
      formats: string[];
      daily_cap: number | null;
      daily_click_cap: number | null;
      multi_complete: boolean;
      image_name: string;
      image_source: string;
      android_min_os: string | null;
      ios_min_os: string | null;
      preview_url: string | null;
      published_sha256: string;
      content_sha256: string;
      created_at: string;
      updated_at: string;
      run_id: number;
    };
    offer_hourly: {
      offer_id: number;
      hour: string;
      clicks: number;
      conversions: number;
      earnings: string;
    };
    offer_stats_2d: {
      offer_id: number;
      as_of: string;
      clicks: number;
      conversions: number;
      converted_clicks: number;
      earnings: string;
      epc: string;
      cvr: string;
      conversions_24h: number;
      conversions_prior_24h: number;
      trend: string;
      rank: number | null;
    };
    offers: {
      offer_id: number;
      source: string;
      external_id: string;
      status: string;
      title: string;
      titles: string;
      descriptions: string;
      payout: string;
      currency: string | null;
      currency_rate: string | null;
      is_multireward: boolean;
      events: string;
      image_name: string;
      image_source: string;
      level: string;
      stars: number;
      categories: string[];
      countries: string[];
      devices: string[];
      payment_term: string;
      android_min_os: string | null;
      ios_min_os: string | null;
      preview_url: string | null;
      tracking_type: string;
      report_category: string;
      formats: string[];
      daily_cap: number | null;
      daily_click_cap: number | null;
      multi_complete: boolean;
      version: number;
      created_at: string;
      updated_at: string;
      removed_at: string | null;
      capped_at: string | null;
      uncapped_at: string | null;
    };
    postback_attempts: {
      webhook_id: string;
      attempt: number;
      site_key: string;
      started_at: string;
      duration_ms: number;
      status: number | null;
      error: string | null;
      host: string;
    };
    postbacks: {
      webhook_id: string;
      conversion_id: string;
      kind: string;
      click_id: string;
      site_key: string;
      user_id: string;
      offer_id: number;
      reward: string;
      occurred_at: string;
      enqueued_at: string;
      state: string;
      attempts: number;
      last_attempt_at: string | null;
      last_status: number | null;
      last_error: string | null;
      delivered_at: string | null;
      next_attempt_at: string | null;
    };
    rejects: {
      file_id: number;
      path: string;
      line: number;
      reason: string;
      raw: string;
      raw_length: number;
      rejected_at: string;
    };
    report_daily: {
      report_date: string;
      offer_id: number;
      as_of: string;
      clicks: number;
      conversions: number;
      converted_clicks: number;
      earnings: string;
      epc: string;
      cvr: string;
      conversions_24h: number;
      conversions_prior_24h: number;
      trend: string;
      rank: number | null;
    };
    report_days: {
      report_date: string;
      state: string;
      as_of: string | null;
      offers: number | null;
      run_id: number | null;
      new_clicks: boolean;
      new_conversions: boolean;
      new_attribution: boolean;
      new_offers: boolean;
    };
    run_stages: {
      run_id: number;
      stage: string;
      started_at: string;
      finished_at: string | null;
      status: string;
      rows_in: number | null;
      rows_out: number | null;
      bytes: number | null;
      error: string | null;
    };
    runs: {
      run_id: number;
      pipeline: string;
      as_of: string;
      scheduled_at: string | null;
      started_at: string;
      finished_at: string | null;
      status: string;
      snapshot_id: string | null;
      error: string | null;
    };
    site_commissions: {
      site_key: string;
      offer_id: number | null;
      source: string | null;
      commission: string;
    };
    site_daily: {
      day: string;
      site_key: string;
      clicks: number;
      conversions: number;
      converted_clicks: number;
      gross_earnings: string;
      earnings_after_commission: string | null;
    };
    site_terms: {
      site_key: string;
      valid_from: string;
      valid_to: string | null;
      commission: string;
      commissions: string;
      offers: string;
      reward_rate: string | null;
    };
    sites: {
      site_key: string;
      name: string;
      status: string;
      variant: string;
      commission: string;
      commission_changed_at: string | null;
      reward_rate: number;
      rate_limit_per_hour: number;
    };
    snapshot: {
      snapshot_id: string;
      as_of: string;
      run_id: number;
      schema_version: number;
      offerline_version: string;
      duckdb_version: string;
    };
  };
  metrics: {
    clicks: {
      offer_id: number;
      clicks: number | null;
    };
    conversions: {
      offer_id: number;
      conversions: number | null;
    };
    conversions_24h: {
      offer_id: number;
      conversions_24h: number | null;
    };
    conversions_prior_24h: {
      offer_id: number;
      conversions_prior_24h: number | null;
    };
    converted_clicks: {
      offer_id: number;
      converted_clicks: number | null;
    };
    cvr: {
      offer_id: number;
      cvr: string | null;
    };
    earnings: {
      offer_id: number;
      earnings: string | null;
    };
    epc: {
      offer_id: number;
      epc: string | null;
    };
    published_epc: {
      site_key: string;
      offer_id: number;
      published_epc: string | null;
    };
    published_payout: {
      site_key: string;
      offer_id: number;
      published_payout: string | null;
    };
    rank: {
      offer_id: number;
      rank: number | null;
    };
    trend: {
      offer_id: number;
      trend: string | null;
    };
  };
  console: {
    click: {
      click_id: string;
      clicked_at: string;
      site_key: string;
      user_id: string;
      offer_id: number | null;
      title: string | null;
      in_catalog: boolean;
      source: string | null;
      external_id: string | null;
      country: string | null;
      device: string | null;
      file_id: number;
      path: string | null;
      ingested_at: string | null;
      run_id: number | null;
    };
    click_conversions: {
      conversion_id: string;
      status: string;
      offer_id: number | null;
      event_id: string | null;
      payout: string | null;
      occurred_at: string;
      credited_at: string | null;
      reversed_at: string | null;
      reason: string | null;
      clicked_at: string | null;
    };
    click_postbacks: {
      webhook_id: string;
      conversion_id: string;
      kind: string;
      site_key: string;
      reward: string;
      occurred_at: string;
      enqueued_at: string;
      state: string;
      attempts: number;
      last_attempt_at: string | null;
      last_status: number | null;
      last_error: string | null;
      delivered_at: string | null;
      next_attempt_at: string | null;
    };
    day_states: {
      state: string;
      days: number;
      first_day: string;
      last_day: string;
    };
    days: {
      report_date: string;
      state: string;
      as_of: string | null;
      offers: number | null;
      run_id: number | null;
      causes: string;
    };
    figure: {
      metric: string;
      definition: string;
      unit: string;
      grain: string;
      served_as: string;
      sql: string;
    };
    figures: {
      metric: string;
      definition: string;
      unit: string;
      grain: string;
      served_as: string;
    };
    file_reject_reasons: {
      reason: string;
      rows: number;
      first_line: number;
      last_line: number;
    };
    file_rejects: {
      line: number;
      reason: string;
      raw_length: number;
      begins: string | null;
    };
    file_totals: {
      kind: string;
      status: string;
      files: number;
      rows: number;
      accepted: number;
      duplicates: number;
      rejected: number;
      conflicts: number;
      warnings: number;
    };
    file_warnings: {
      warning: string;
      field: string | null;
      rows: number;
    };
    files: {
      file_id: number;
      path: string;
      kind: string;
      status: string;
      rows: number;
      accepted: number;
      duplicates: number;
      rejected: number;
      conflicts: number;
      warnings: number;
      bytes: number;
      reason: string | null;
      run_id: number;
      ingested_at: string;
    };
    found_conversions: {
      conversion_id: string;
      click_id: string;
      status: string;
    };
    found_things: {
      kind: string;
      id: string;
      what: string;
      is_exact: boolean;
    };
    landing_file: {
      file_id: number;
      path: string;
      kind: string;
      source: string | null;
      sha256: string;
      bytes: number;
      rows: number;
      accepted: number;
      duplicates: number;
      rejected: number;
      conflicts: number;
      warnings: number;
      status: string;
      reason: string | null;
      run_id: number;
      ingested_at: string;
    };
    movers: {
      offer_id: number;
      title: string;
      conversions_24h: number;
      conversions_prior_24h: number;
      change: number;
      trend: string;
    };
    network_hours: {
      hour: string;
      clicks: number | null;
      clicks_week_before: number | null;
      conversions: number | null;
      conversions_week_before: number | null;
      earnings: string | null;
      earnings_week_before: string | null;
    };
    offer: {
      offer_id: number;
      source: string;
      external_id: string;
      status: string;
      title: string;
      titles: string;
      descriptions: string;
      payout: string;
      currency: string | null;
      currency_rate: string | null;
      is_multireward: boolean;
      events: string;
      image_name: string;
      image_source: string;
      level: string;
      stars: number;
      categories: string[];
      countries: string[];
      devices: string[];
      payment_term: string;
      android_min_os: string | null;
      ios_min_os: string | null;
      preview_url: string | null;
      tracking_type: string;
      report_category: string;
      formats: string[];
      daily_cap: number | null;
      daily_click_cap: number | null;
      multi_complete: boolean;
      version: number;
      created_at: string;
      updated_at: string;
      removed_at: string | null;
      capped_at: string | null;
      uncapped_at: string | null;
      clicks: number | null;
      conversions: number | null;
      converted_clicks: number | null;
      earnings: string | null;
      epc: string | null;
      cvr: string | null;
      conversions_24h: number | null;
      conversions_prior_24h: number | null;
      trend: string | null;
      rank: number | null;
      gone_run_id: number | null;
      gone_file_id: number | null;
      gone_path: string | null;
    };
    offer_changes: {
      version: number;
      valid_from: string;
      run_id: number;
      field: string;
      before: string | null;
      after: string | null;
    };
    offer_days: {
      day: string;
      clicks: number;
      conversions: number;
      converted_clicks: number;
      earnings: string;
      epc: string;
      cvr: string;
    };
    offer_explained: {
      what: string;
      happened_at: string;
      click_id: string;
      conversion_id: string | null;
      site_key: string;
      status: string | null;
      payout: string | null;
      in_clicks: boolean;
      in_conversions: boolean;
      in_conversions_24h: boolean;
      in_conversions_prior_24h: boolean;
    };
    offer_explained_rows: {
      of_rows: number;
    };
    offer_sites: {
      site_key: string;
      clicks: number;
      conversions: number;
      converted_clicks: number;
      earnings: string;
      epc: string;
      cvr: string;
    };
    offer_sources: {
      source: string;
      offers: number;
    };
    offers: {
      offer_id: number;
      title: string;
      source: string;
      status: string;
      payout: string;
      clicks: number;
      conversions: number;
      earnings: string;
      epc: string;
      cvr: string;
      trend: string | null;
      rank: number | null;
      conversions_by_day: number[];
    };
    overview_days: {
      days_before: number;
      day: string;
      until: string;
      clicks: number | null;
      conversions: number | null;
      earnings: string | null;
      epc: string | null;
      reversed: number | null;
    };
    recent_clicks: {
      click_id: string;
      clicked_at: string;
      site_key: string;
      user_id: string;
      offer_id: number | null;
      title: string | null;
      country: string | null;
      device: string | null;
    };
    reject_reasons: {
      kind: string;
      reason: string;
      rows: number;
      rows_of_last_day: number;
      files: number;
      last_file_id: number;
      last_ingested_at: string;
    };
    run: {
      run_id: number;
      pipeline: string;
      as_of: string;
      scheduled_at: string | null;
      started_at: string;
      finished_at: string | null;
      status: string;
      snapshot_id: string | null;
      error: string | null;
    };
    run_stages: {
      stage: string;
      started_at: string;
      finished_at: string | null;
      status: string;
      rows_in: number | null;
      rows_out: number | null;
      bytes: number | null;
      error: string | null;
    };
    site: {
      site_key: string;
      name: string | null;
      status: string | null;
      variant: string | null;
      commission: string | null;
      commission_changed_at: string | null;
      reward_rate: number | null;
      rate_limit_per_hour: number | null;
      commissions: string | null;
      offers: string | null;
      waiting: number;
      dead: number;
      lag_seconds_p95: number | null;
    };
    site_days: {
      day: string;
      clicks: number;
      conversions: number;
      converted_clicks: number;
      gross_earnings: string;
      earnings_after_commission: string | null;
    };
    site_keys: {
      site_key: string;
    };
    site_offers: {
      offer_id: number;
      title: string;
      status: string;
      clicks: number;
      conversions: number;
      earnings: string;
      epc: string;
      cvr: string;
    };
    sites: {
      site_key: string;
      name: string | null;
      status: string | null;
      variant: string | null;
      commission: string | null;
      clicks: number | null;
      conversions: number | null;
      gross_earnings: string | null;
      earnings_after_commission: string | null;
      last_day: string | null;
      waiting: number;
      dead: number;
      lag_seconds_p95: number | null;
      clicks_by_day: number[];
      earnings_by_day: number[];
    };
    table_columns: {
      name: string;
      type: string;
      meaning: string | null;
    };
    table_lineage: {
      direction: string;
      name: string;
      layer: string;
    };
    tables: {
      name: string;
      kind: string;
      columns: number;
      purpose: string | null;
    };
  };
}
