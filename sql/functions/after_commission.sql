-- A gross amount after a site's commission (from 0 to 1), rounded half away from zero to 4 places; exact.
-- The widest decimals: the product of narrow ones is computed in 64 bits and overflows at some nine million USD.
-- parameters: gross, commission
round(gross::DECIMAL(38, 6) * (1 - commission)::DECIMAL(38, 6), 4)::DECIMAL(24, 4)
