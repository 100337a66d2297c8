-- UTC day of a moment, whatever the session's time zone.
-- parameters: moment
(moment AT TIME ZONE 'UTC')::DATE
