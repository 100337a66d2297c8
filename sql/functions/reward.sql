-- The reward of a conversion in the site's points: its payout after the site's commission (from 0 to 1) times the points for
-- a USD, rounded once, half away from zero, to 4 places; exact, since the product has 18 places.
-- The widest decimals: the product of narrow ones is computed in 64 bits and overflows at some nine million USD.
-- parameters: payout, commission, reward_rate
round(payout::DECIMAL(38, 6) * (1 - commission)::DECIMAL(38, 6) * reward_rate::DECIMAL(38, 6), 4)::DECIMAL(24, 4)
