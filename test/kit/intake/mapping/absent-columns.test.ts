import { expect, it } from 'vitest';
import { absentColumns } from '../../../../src/kit/intake/mapping/absent-columns.ts';
import { fileMappingSchema } from '../../../../src/kit/intake/mapping/mapping-schema.ts';

const least = { external_id: 'id', title: 'name', payout: 'pays' };
const columns = ['id', 'name', 'pays', 'allow'];

/** Fields that a table of these columns lacks a column of; in capitals where that column decides what counts. */
function absent(fields: object, more: object = {}): string[] {
  const mapping = fileMappingSchema.parse({ match: 'offers/net/**', fields: { ...least, ...fields }, ...more });
  return absentColumns(mapping, columns).map(
    ({ field, places, decide }) => `${decide ? field.toUpperCase() : field} ${places.join(' ')}`,
  );
}

it('a table lacks the columns of values, and those that decide which of them count', () => {
  const allow = { at: 'allow', split: ',' };
  expect(absent({})).toEqual([]);
  expect(absent({ image: 'logo', level: { at: ['hard', 'allow'] }, status: { at: 'state', value: 'active' } })).toEqual(
    ['image logo'],
  );
  expect(absent({ currency: 'EUR' })).toEqual(['CURRENCY EUR']);
  expect(absent({ countries: { ...allow, except: 'deny' } })).toEqual(['COUNTRIES deny']);
  expect(absent({ countries: { ...allow, except: { at: ['deny', 'allow'] } } })).toEqual([]);
  expect(absent({ devices: { ...allow, within: { at: 'os', except: { each: 'not' } } } })).toEqual(['DEVICES os not']);
  expect(absent({ image: { at: 'logo', else: { at: 'allow', when: { at: 'kind', is: 'x' } } } })).toEqual([
    'IMAGE kind',
  ]);
  expect(absent({ events: { each: 'goals', when: { at: 'has', is: 1 }, event_id: 'a', payout: 'b' } })).toEqual([
    'EVENTS has',
  ]);
  expect(absent({ countries: { each: 'geo', at: 'code', rows: { at: 'type', is: 'x' } } })).toEqual(['countries geo']);
  expect(
    absent(
      {},
      {
        rows: [
          { at: 'id', not: [''] },
          { at: 'test', not: [1] },
        ],
      },
    ),
  ).toEqual(['ROWS test']);
});
