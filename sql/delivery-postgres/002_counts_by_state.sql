-- How many of each site are in which state, and why those that failed did, without reading the postbacks themselves.
CREATE INDEX postbacks_by_state ON postbacks (state, site_key, sort_key);
CREATE INDEX postbacks_failed ON postbacks (last_error, last_status, state, site_key) WHERE last_error IS NOT NULL;
