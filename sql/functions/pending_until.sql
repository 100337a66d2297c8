-- When a conversion that was announced and not decided stops being pending, UTC: 90 days after it happened. Networks decide
-- within 60; a credit that comes later counts all the same.
-- parameters: occurred_at
occurred_at + to_hours(24 * 90)
