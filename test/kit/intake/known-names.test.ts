import { expect, it } from 'vitest';
import { bareName, knownNames, knownPlaces } from '../../../src/kit/intake/known-names.ts';
import { landingFieldNames } from '../../../src/kit/vocabulary/offer-fields.ts';
import { landingKinds, type LandingKind } from '../../../src/kit/vocabulary/values.ts';
import { clickSchema, conversionSchema } from '../../../src/pipeline/landing/logs/log-fields.ts';

const reading = { wallClock: '2026-11-18T12:00:00Z' };
const places = (kind: LandingKind, columns: string[]) =>
  Object.fromEntries(
    [...knownPlaces(kind, columns)].map(([field, known]) => [field, known.map(({ place }) => place)] as const),
  );

it.each([
  ['Click ID', 'clickid'],
  ['customVariable1', 'customvariable1'],
  ['Custom variable 1', 'customvariable1'],
  ['{click_time}', 'clicktime'],
  ['[transaction_id]', 'transactionid'],
  ['Date / Time', 'date/time'],
  [' user-agent ', 'useragent'],
])('the name %s is %s without what exports write differently', (name, plain) => {
  expect(bareName(name)).toBe(plain);
});

it('columns of a click log are known by the names of its product', () => {
  expect(
    places('clicks', ['transaction_id', 'offer_id', 'affiliate_source', 'affiliate_sub1', 'datetime', 'refer']),
  ).toEqual({
    click_id: ['transaction_id'],
    external_id: ['offer_id'],
    site_key: ['affiliate_source'],
    user_id: ['affiliate_sub1'],
    clicked_at: ['datetime'],
    sub1: ['affiliate_sub1'],
  });
});

it('the likelier place comes first, and all others behind it', () => {
  const { click_id, occurred_at } = places('conversions', [
    'Postback timestamp',
    'Visit timestamp',
    'Transaction ID',
    'Click ID',
    'External ID',
  ]);
  expect(click_id).toEqual(['Click ID', 'External ID', 'Transaction ID']);
  expect(occurred_at).toEqual(['Postback timestamp']);
});

it('our own name comes before theirs, and a whole place before its last key', () => {
  expect(places('clicks', ['clickid', 'Click-ID'])['click_id']).toEqual(['clickid', 'Click-ID']);
  expect(places('conversions', ['network.status', 'STATUS'])['status']).toEqual(['STATUS', 'network.status']);
  expect(places('clicks', ['relationship.offer.network_offer_id'])['external_id']).toEqual([
    'relationship.offer.network_offer_id',
  ]);
});

it('names are known for fields that there are, each name once', () => {
  const of = (schema: typeof clickSchema) => schema(reading).fields.map(({ name }) => name);
  const fields = {
    offers: landingFieldNames as readonly string[],
    clicks: of(clickSchema),
    conversions: [...of(conversionSchema), 'status', 'changed_at', 'currency'],
  };
  for (const kind of landingKinds)
    for (const [field, names] of Object.entries(knownNames[kind])) {
      expect(fields[kind]).toContain(field);
      const plain = Object.keys(names).map(bareName);
      expect(new Set(plain).size, field).toBe(plain.length);
    }
});
