-- Conversions come one file after the other and are kept for ever, and DuckDB writes the whole index of a key at each
-- checkpoint: a run that brings ten conversions wrote those of a year. Nothing asks by these keys; what ingests looks for
-- copies itself, and the audits find a conversion that is there twice.

ALTER TABLE conversion_events RENAME TO keyed_conversion_events;

-- One row per accepted conversion event: of each conversion_id and kind one.
CREATE TABLE conversion_events (
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('credit', 'reject', 'chargeback')),
  click_id VARCHAR NOT NULL,
  occurred_at TIMESTAMPTZ NOT NULL,
  event_id VARCHAR,
  payout DECIMAL(15, 6),
  reason VARCHAR,
  file_id BIGINT NOT NULL
);

INSERT INTO conversion_events FROM keyed_conversion_events;

DROP TABLE keyed_conversion_events;

ALTER TABLE conversion_clicks RENAME TO keyed_conversion_clicks;

-- One row per click that a conversion event names and that has been ingested: of each click_id one.
CREATE TABLE conversion_clicks (
  click_id VARCHAR NOT NULL,
  offer_id INTEGER,
  source VARCHAR,
  external_id VARCHAR,
  site_key VARCHAR NOT NULL,
  user_id VARCHAR NOT NULL,
  clicked_at TIMESTAMPTZ NOT NULL
);

INSERT INTO conversion_clicks FROM keyed_conversion_clicks;

DROP TABLE keyed_conversion_clicks;
