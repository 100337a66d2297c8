-- Which of the undecided conversion events are decided at $as_of: their click, offer, worth and site are known. A reject
-- or chargeback carries what the credit carried; without a credit its own amount, or the catalog's at its time.
-- The reward is exact, rounded once, half away from zero, to 4 places; in a site's points.
-- grain: one row per event of postbacks_undecided that is decided
-- inputs: postbacks_undecided, conversion_events, conversion_clicks, offers, offer_spans, offer_version_events, outbox, run_postback_sites
WITH events AS (
  SELECT *
  FROM conversion_events
  WHERE occurred_at <= $as_of AND conversion_id IN (SELECT conversion_id FROM postbacks_undecided)
),
led AS (
  SELECT
    event.conversion_id,
    event.kind,
    event.occurred_at,
    coalesce(credit.click_id, event.click_id) AS click_id,
    CASE WHEN credit.kind IS NULL THEN event.payout ELSE credit.payout END AS payout,
    CASE WHEN credit.kind IS NULL THEN event.event_id ELSE credit.event_id END AS event_id,
    coalesce(credit.occurred_at, event.occurred_at) AS priced_at
  FROM events AS event
  JOIN postbacks_undecided AS undecided ON undecided.conversion_id = event.conversion_id AND undecided.kind = event.kind
  LEFT JOIN events AS credit ON credit.conversion_id = event.conversion_id AND credit.kind = 'credit'
),
attributed AS (
  SELECT
    led.*,
    click.site_key,
    click.user_id,
    coalesce(by_id.offer_id, by_name.offer_id) AS offer_id
  FROM led
  JOIN conversion_clicks AS click ON click.click_id = led.click_id
  LEFT JOIN offers AS by_id ON by_id.offer_id = click.offer_id
  LEFT JOIN offers AS by_name
    ON by_name.source = CASE WHEN click.offer_id IS NULL THEN click.source END
    AND by_name.external_id = click.external_id
),
priced AS (
  SELECT
    attributed.*,
    CASE
      WHEN attributed.payout IS NOT NULL THEN attributed.payout
      WHEN attributed.event_id IS NOT NULL THEN milestone.payout
      ELSE span.payout
    END AS worth
  FROM attributed
  JOIN offer_spans AS span
    ON span.offer_id = attributed.offer_id
    AND span.holds_from <= attributed.priced_at
    AND attributed.priced_at < span.holds_until
  LEFT JOIN offer_version_events AS milestone
    ON milestone.offer_id = span.offer_id
    AND milestone.version = span.version
    AND milestone.event_id = attributed.event_id
)
SELECT
  priced.conversion_id,
  priced.kind,
  priced.click_id,
  priced.site_key,
  priced.user_id,
  priced.offer_id,
  priced.occurred_at,
  site.has_address,
  coalesce(
    credited.reward,
    round(priced.worth::DECIMAL(38, 6) * (1 - site.commission)::DECIMAL(38, 6) * site.reward_rate::DECIMAL(38, 6), 4)
  )::DECIMAL(24, 4) AS reward
FROM priced
JOIN run_postback_sites AS site ON site.site_key = priced.site_key
LEFT JOIN outbox AS credited ON credited.conversion_id = priced.conversion_id AND credited.kind = 'credit'
WHERE priced.worth IS NOT NULL
