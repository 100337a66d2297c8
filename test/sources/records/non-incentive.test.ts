import { expect, it } from 'vitest';
import { everflow } from '../../../src/sources/connectors/everflow.ts';
import { forbidsIncentives } from '../../../src/sources/records/non-incentive.ts';
import { NetworkRecord } from '../../../src/sources/records/record-fields.ts';

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

it.each(['prohib', 'prohib: ', 'incent', 'incent ', 'not permi', 'no-no-incen', 'запрещ   '])(
  'a long text of "%s" is read in time that grows as it does',
  (part) => {
    const begun = performance.now();
    forbidsIncentives(part.repeat(25_000));
    // It took 18 s where each word was read to the end of the text.
    expect(performance.now() - begun).toBeLessThan(1000);
  },
);

it('a list of what is forbidden counts up to the end of its sentence, however long', () => {
  const others = 'adult, spam, '.repeat(1000);
  expect(forbidsIncentives(`Prohibited: ${others} forbidden: incentives`)).toBe(true);
  expect(forbidsIncentives(`Prohibited: ${others}. Incentives are fine.`)).toBe(false);
});

it('a plain description of Everflow is no longer than one of HTML', () => {
  const offer = { name: 'One', html_description: 'Play. '.repeat(25_000) };
  const lengths = [true, false].map((is_description_plain_text) => {
    const record = new NetworkRecord({ ...offer, network_offer_id: '1', is_description_plain_text });
    const made = everflow.offers?.toCanonical(record, { keepNonIncentive: false });
    const description = made !== undefined && 'record' in made ? made.record['description'] : undefined;
    return typeof description === 'string' ? description.trim().length : undefined;
  });
  expect(lengths[0]).toBe(lengths[1]);
});
