-- Terms of sites over time, as versions of offers are kept: commissions of some offers and rules for which offers a site may
-- have, beside the site's commission. Both as JSON in one spelling.
ALTER TABLE site_commissions RENAME TO site_terms;
ALTER TABLE site_terms ADD COLUMN commissions JSON DEFAULT '[]';
ALTER TABLE site_terms ADD COLUMN offers JSON DEFAULT '{}';
