-- Terms of sites over time: what the network keeps of a payout, which offers a site may have, and what a USD is in its points.
-- Rewards keep the commission and the rate that were in force when they were written; all other amounts go by the terms in
-- force now.
-- grain: one row per site and change of its terms
-- key: site_key, valid_from
-- columns:
--   site_key: Public identifier of the site, also of one that sites.json has no more
--   valid_from: As-of of the run that first saw these terms, or just after that of the snapshot before, UTC
--   valid_to?: valid_from of the terms that followed, UTC; NULL for those in force
--   commission: The network's share of a payout, from 0 to 1
--   commissions: Shares of the payouts of some offers: a list of offer, its public id, or source, with commission
--   offers: Offers that the site may have: lists allow and deny, of offer, source, category or format; without allow all
--   reward_rate?: Publisher's points for one USD; NULL in terms from before it was kept here
SELECT
  site_key,
  valid_from,
  lead(valid_from) OVER (PARTITION BY site_key ORDER BY valid_from) AS valid_to,
  commission,
  commissions,
  offers,
  reward_rate
FROM site_terms
ORDER BY site_key, valid_from
