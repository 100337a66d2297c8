-- Requests of networks that still count, so that processes share a budget. `budget` is a digest of host, account and
-- limit; `free_at` is when another request may take a row's place, and `until` when requests may begin again that a
-- network has asked to wait for: both in milliseconds of the machine's clock since its start, which nobody sets.
CREATE TABLE begun_requests (
  budget TEXT NOT NULL,
  free_at REAL NOT NULL
) STRICT;
CREATE INDEX begun_requests_by_budget ON begun_requests (budget, free_at);

CREATE TABLE paused_budgets (
  budget TEXT PRIMARY KEY,
  until REAL NOT NULL
) STRICT, WITHOUT ROWID;
