-- What is left of a gross amount after a site's commission (from 0 to 1), rounded half away from zero to 4 places; exact.
-- parameters: gross, commission
round(gross * (1 - commission)::DECIMAL(7, 6), 4)
