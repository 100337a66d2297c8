-- What a site may ask for beside the signed fields, as a JSON object of texts: event_id, sub1, sub2, reason, payout. NULL for
-- postbacks that were written before there was any of it.
ALTER TABLE postbacks ADD COLUMN further TEXT;
