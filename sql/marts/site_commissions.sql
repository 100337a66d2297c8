-- Commissions of some offers of a site, as sites.json had them when the snapshot's run began. Of an offer the one by its id
-- counts, else the one by its source, else the site's own, in sites.
-- grain: one row per site and offer or source with a commission of its own
-- key: site_key, offer_id, source
-- columns:
--   site_key: Public identifier of the site
--   offer_id?: Public id of the offer; NULL where source says which offers
--   source?: The source whose offers have it; NULL where offer_id is given
--   commission: The network's share of a payout, from 0 to 1
SELECT
  site_key,
  offer_id,
  source,
  commission
FROM run_site_commissions
ORDER BY site_key, offer_id, source
