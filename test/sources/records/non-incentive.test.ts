import { expect, it } from 'vitest';
import { forbidsIncentives } from '../../../src/sources/records/non-incentive.ts';

it.each([
  'Castle Coins (no incent)',
  'Non-incentivized traffic only',
  'NO INCENTIVES',
  'Email and search. Incentive traffic is not allowed.',
  'Incent prohibited',
  'Not allowed: adult, incentivised, spam',
  'Kein Incent-Traffic',
  'Incentivierter Traffic: nein. Incent ist nicht erlaubt',
  'Trafic sans incentive',
  "Pas d'incentive",
  'Incentive interdite',
  'Sin incentivos',
  'Incentivos no permitidos',
  'Sem incentivo',
  'Incentivo é proibido',
  'Senza incentivi',
])('an offer that says "%s" forbids incentives', (text) => {
  expect(forbidsIncentives('A title', text)).toBe(true);
});

it.each([
  'Incent allowed',
  'Incentivised traffic is welcome',
  'No deposit needed, incentives allowed',
  'Casino incentives for new players',
  'Not allowed: adult content. Incentives are fine.',
])('an offer that says "%s" does not', (text) => {
  expect(forbidsIncentives(text, undefined)).toBe(false);
});
