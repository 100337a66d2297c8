-- Trend of an offer by its conversions of two spans of the same length: up when recent exceeds prior by more than a tenth, down when it falls short by more than a tenth, else stable.
-- parameters: recent, prior
CASE WHEN 10 * recent > 11 * prior THEN 'up' WHEN 10 * recent < 9 * prior THEN 'down' ELSE 'stable' END
