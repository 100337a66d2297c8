-- Versions keep the currency of their record's amounts and its rate. NULL in those written before: the next change of an
-- offer, or the first reading of one in another currency than USD, writes a version with both.
ALTER TABLE offer_versions ADD COLUMN currency VARCHAR;
ALTER TABLE offer_versions ADD COLUMN currency_rate DECIMAL(18, 9);
