-- A quotient as a decimal of 6 places, rounded half away from zero; 0 where the divisor is 0. The dividend is given in
-- millionths; neither may be negative. Exact: a DECIMAL division goes through DOUBLE and errs, so it is done in whole
-- numbers, as (2 × dividend + divisor) // (2 × divisor).
-- parameters: dividend_millionths, divisor
(CASE
  WHEN divisor = 0 THEN 0
  ELSE (2 * dividend_millionths + divisor) // (2 * divisor)
END::DECIMAL(30, 0) * 0.000001::DECIMAL(7, 6))::DECIMAL(24, 6)
