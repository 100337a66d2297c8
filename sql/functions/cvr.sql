-- Conversion rate, a ratio: converted_clicks / clicks, rounded half away from zero to 6 places; 0 without clicks.
-- parameters: converted_clicks, clicks
rounded_quotient(converted_clicks::HUGEINT * 1000000, clicks)
