import { describe, expect, it } from 'vitest';
import { checkSources } from '../../pipelines/check-sources.ts';
import { pullSources } from '../../pipelines/pull.ts';
import { PullLedger } from '../../src/sources/pull-ledger.ts';
import { dataWith, exported, serve, terminal } from '../support/declared-network.ts';

const items = [
  { id: 'a', kind: 'cpa' },
  { id: 'b', kind: 'cpa' },
];
const fields = { external_id: { at: ['id', 'uuid'] }, title: 'id' };
const cause = 'Either the answer is an error, or the list moved';

/** Pulls a good answer, then another one. */
async function pullTwice(offers: object, good: unknown, then: unknown) {
  let answer = good;
  const url = await serve(() => JSON.stringify(answer));
  const data = await dataWith({ source: 'mine', connector: 'http', base_url: url, offers: { fields, ...offers } });
  expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'done', records: 2 }]);
  const before = await exported(data, 'mine');
  using ledger = new PullLedger(data);
  const complete = ledger.newest().get('mine')?.whole;
  answer = then;
  const [checked] = await checkSources({ data, terminal });
  const [pulled] = await pullSources({ data, terminal });
  expect(await exported(data, 'mine')).toEqual(before);
  // The age of the catalog counts from the pull that had one.
  expect(ledger.newest().get('mine')?.whole).toEqual(complete);
  return { pulled, checked };
}

describe('a list in which no record has an id is no list', () => {
  it.each<[name: string, offers: object, good: unknown, then: unknown, error: string]>([
    [
      'a message in its place',
      { records: 'items' },
      { items },
      { items: { message: 'maintenance' } },
      '"items" has no record with an id at "id" or "uuid": the first of 1 is a text',
    ],
    [
      'an error in place of a bare list',
      {},
      items,
      { error: { code: 7, text: 'maintenance' } },
      'the answer has no record with an id at "id" or "uuid": the first of 1 is an object with "code", "text"',
    ],
    [
      'a list one level down',
      { records: 'items' },
      { items },
      { items: { offers: items } },
      '"items" has no record with an id at "id" or "uuid": the first of 1 is a list of 2',
    ],
    [
      'an error beside conditions that pass it over',
      { rows: { at: 'kind', is: 'cpa' } },
      items,
      [{ error: 'maintenance' }],
      'the first of 1 is an object with "error"',
    ],
  ])('%s fails the pull and the check, and the last catalog stays', async (_name, offers, good, then, error) => {
    const { pulled, checked } = await pullTwice(offers, good, then);
    expect(pulled).toMatchObject({ status: 'failed', file: null });
    expect(pulled?.error).toContain(error);
    expect(pulled?.error).toContain(cause);
    expect(checked?.error).toContain(error);
  });

  it('on a later page too', async () => {
    const url = await serve(({ searchParams }) =>
      JSON.stringify(searchParams.get('page') === '1' ? { items, more: true } : { items: { message: 'busy' } }),
    );
    const offers = { query: { page: '{page}' }, paging: { kind: 'page', more: 'more' }, records: 'items', fields };
    const data = await dataWith({ source: 'mine', connector: 'http', base_url: url, offers });
    expect(await pullSources({ data, terminal })).toMatchObject([
      { status: 'failed', error: expect.stringContaining(cause) as string },
    ]);
  });

  it('of conversions too, where an empty one is none', async () => {
    let actions: unknown = [];
    const url = await serve(() => JSON.stringify({ actions }));
    const conversions = {
      records: 'actions',
      rows: { at: 'type', is: 'sale' },
      fields: {
        conversion_id: 'id',
        click_id: 'sub',
        status: { at: 'state', words: { ok: 'credit' } },
        occurred_at: { at: 'at', time: 'epoch_s' },
      },
    };
    const data = await dataWith({ source: 'mine', connector: 'http', base_url: url, conversions });
    expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'done', conversions: 0 }]);
    actions = [{ id: 1, type: 'click' }];
    expect(await pullSources({ data, terminal })).toMatchObject([
      { status: 'done', conversions_left_out: { passed_over: 1 } },
    ]);
    actions = { error: { code: 'down' } };
    const error = expect.stringContaining('"actions" has no record with an id at "id"') as string;
    expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'failed', error }]);
    expect(await checkSources({ data, terminal })).toMatchObject([{ error }]);
  });
});

it('an error in place of a list that is the answer itself is quoted', async () => {
  const url = await serve(() => JSON.stringify({ error: 'invalid_token', message: 'who are you' }));
  const data = await dataWith({ source: 'mine', connector: 'http', base_url: url, offers: { fields } });
  const error = expect.stringContaining('its declaration has to follow; it says "invalid_token"') as string;
  expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'failed', error }]);
});

describe('a CSV without the column of its ids is no list', () => {
  const columns = {
    conversion_id: 'Trans ID',
    click_id: 'SubId',
    status: { at: 'State', words: { ok: 'credit' } },
    occurred_at: 'Date',
  };
  const csvOf = (own: object = {}) => ({ format: 'csv', fields: columns, ...own });
  const header = 'Trans ID,SubId,Date,State\r\n';
  const says = (text: string) => expect.stringContaining(text) as string;

  it.each<[answer: string, own: object, status: string, error: unknown]>([
    [header, {}, 'done', null],
    ['', {}, 'done', null],
    ['Error Code 4002: Invalid token\n', {}, 'failed', says('its header is "Error Code 4002: Invalid token"')],
    [`Error: ${'the token has expired '.repeat(3)}\n`, {}, 'failed', says('its header is a long text. Either')],
    ['Transaction,SubId,Date,State\n', {}, 'failed', says('the answer has no column "Trans ID"')],
    ['No results.\n', {}, 'failed', says('a text that means no records goes into "errors", with "do": "end"')],
    ['No results.\n', { errors: [{ contains: 'no results', do: 'end' }] }, 'done', null],
  ])('of conversions, which may be empty: %j %j', async (answer, own, status, error) => {
    const url = await serve(() => answer);
    const data = await dataWith({ source: 'mine', connector: 'http', base_url: url, conversions: csvOf(own) });
    expect(await pullSources({ data, terminal })).toMatchObject([{ status, conversions: 0, error }]);
    expect(await checkSources({ data, terminal })).toMatchObject([{ error }]);
  });

  it('nor is one behind good pages, which are not all then', async () => {
    const url = await serve(({ searchParams }) =>
      searchParams.get('page') === '1' ? 'id,name,payout\n1,A,1.5\n' : 'Too many requests\n',
    );
    const offers = { format: 'csv', query: { page: '{page}' }, paging: { kind: 'page' }, fields };
    const data = await dataWith({ source: 'mine', connector: 'http', base_url: url, offers });
    const error = says('its header is "Too many requests"');
    expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'failed', file: null, error }]);
  });
});

it('a complete list of which every offer is left out removes none', async () => {
  const url = await serve(() => JSON.stringify(items));
  const offers = { rows: { at: 'kind', is: 'cpi' }, fields };
  const data = await dataWith({ source: 'mine', connector: 'http', base_url: url, offers });
  const error = 'all 2 records are left out (passed_over): nothing is written, and its current offers stay';
  expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'failed', file: null, error }]);
  await expect(exported(data, 'mine')).rejects.toThrow('ENOENT');
});
