-- Conversions may be announced before they are decided: their events have a fourth kind, as have the postbacks of sites that
-- ask for it, and a row of state may have emitted an announcement only. Checks cannot be altered, so the tables are written again.
CREATE TABLE events_with_pending (
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('pending', 'credit', 'reject', 'chargeback')),
  click_id VARCHAR NOT NULL,
  occurred_at TIMESTAMPTZ NOT NULL,
  event_id VARCHAR,
  payout DECIMAL(15, 6),
  reason VARCHAR,
  file_id BIGINT NOT NULL,
  known_at TIMESTAMPTZ
);
INSERT INTO events_with_pending FROM conversion_events;
DROP TABLE conversion_events;
ALTER TABLE events_with_pending RENAME TO conversion_events;

CREATE TABLE outbox_with_pending (
  number BIGINT NOT NULL,
  webhook_id VARCHAR NOT NULL,
  conversion_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('pending', 'credit', 'reject', 'chargeback')),
  click_id VARCHAR NOT NULL,
  site_key VARCHAR NOT NULL,
  user_id VARCHAR NOT NULL,
  offer_id INTEGER NOT NULL,
  reward DECIMAL(24, 4) NOT NULL,
  occurred_at TIMESTAMPTZ NOT NULL,
  enqueued_at TIMESTAMPTZ NOT NULL,
  further VARCHAR
);
INSERT INTO outbox_with_pending FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_with_pending RENAME TO outbox;

CREATE TABLE states_with_pending (
  conversion_id VARCHAR NOT NULL,
  credits INTEGER NOT NULL,
  state VARCHAR NOT NULL CHECK (state IN ('pending', 'credited', 'reversed')),
  payout DECIMAL(15, 6),
  version VARCHAR
);
INSERT INTO states_with_pending FROM conversion_states;
DROP TABLE conversion_states;
ALTER TABLE states_with_pending RENAME TO conversion_states;
