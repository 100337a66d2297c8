-- Earnings per click, in the currency of the earnings: earnings / clicks, rounded half away from zero to 6 places; 0 without clicks.
-- parameters: earnings, clicks
rounded_quotient((earnings * 1000000)::HUGEINT, clicks)
