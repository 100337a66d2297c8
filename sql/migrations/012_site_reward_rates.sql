-- Terms of sites over time have the rate of rewards, too, so that a change of it alone is known: it changes the rewards of
-- conversions that have no postback. NULL in terms that are older than this.
ALTER TABLE site_terms ADD COLUMN reward_rate DECIMAL(15, 6);
