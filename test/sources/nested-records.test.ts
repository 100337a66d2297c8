import { expect, it } from 'vitest';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { dataWith, pullMine, serve } from '../support/declared-network.ts';

async function pull(records: string, answer: unknown, fields: object) {
  const base_url = await serve(() => JSON.stringify(answer));
  return pullMine({ connector: 'http', base_url, offers: { records, fields } });
}

it('records within members of a list are read beside what surrounds them', async () => {
  const campaigns = [
    {
      id: 7,
      name: 'Game',
      geo: ['DE'],
      list: [
        { id: 'a', pay: 1 },
        { id: 'b', name: 'Own', pay: 2 },
      ],
    },
    { id: 8, name: 'Bank', geo: ['US'], list: [] },
    { id: 9, name: 'Shop', geo: [] },
    { id: 10, name: 'News', geo: ['FR'], list: { x: { id: 'c', pay: 3 } } },
  ];
  const { pulled, offers } = await pull(
    'data.campaigns.*.list',
    { data: { campaigns } },
    {
      external_id: 'id',
      title: { at: ['name', '*.name'] },
      payout: 'pay',
      countries: '*.geo',
      description: '*.id',
    },
  );
  expect(pulled).toMatchObject({ status: 'done', records: 3 });
  const always = { currency: 'USD' };
  expect(offers).toEqual([
    { external_id: 'a', title: 'Game', payout: 1, countries: ['DE'], description: 7, ...always },
    { external_id: 'b', title: 'Own', payout: 2, countries: ['DE'], description: 7, ...always },
    { external_id: 'c', title: 'News', payout: 3, countries: ['FR'], description: 10, ...always },
  ]);
});

it('each star of the place is one of the record', async () => {
  const answer = [{ name: 'A', groups: { g: { title: 'G', offers: [{ id: 1 }] } } }];
  const fields = { external_id: 'id', title: '*.title', description: '*.*.name' };
  const { offers } = await pull('*.groups.*.offers', answer, fields);
  expect(offers).toEqual([{ external_id: 1, title: 'G', description: 'A', currency: 'USD' }]);
});

it.each<[answer: unknown, error: string]>([
  [{ data: [] }, 'the answer has no "campaigns.*.list"'],
  [{ campaigns: [{ list: 'busy' }] }, 'the value at "campaigns.*.list" is no list'],
  [{ campaigns: { message: 'busy' } }, 'the answer has no "campaigns.*.list"'],
  [{ campaigns: [{ id: 1, offers: [{ id: 2 }] }] }, 'empty list'],
])('a list %j that has none of them fails the pull', async (answer, error) => {
  const { pulled } = await pull('campaigns.*.list', answer, { external_id: 'id' });
  expect(pulled).toMatchObject({ status: 'failed', error: expect.stringContaining(error) as string });
});

it('a star in the place of XML is refused', async () => {
  const offers = { format: 'xml', records: 'a.*.b', fields: { external_id: 'id' } };
  const data = await dataWith({ source: 'a', connector: 'http', base_url: 'https://x.example', offers });
  expect(() => readSources(data)).toThrow('"*" goes through lists of JSON only');
});
