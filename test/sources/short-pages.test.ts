import { describe, expect, it } from 'vitest';
import { pullMine, serve } from '../support/declared-network.ts';

const ids = ['a', 'b', 'c', 'd', 'e'];

/** A network that gives at most two records, whatever is asked for; `answer` makes its page of them. */
async function cutNetwork(answer: (found: object[], page: number, all: number) => unknown = (found) => found) {
  const asked: number[] = [];
  const url = await serve(({ searchParams }) => {
    const page = Number(searchParams.get('page'));
    asked.push(page);
    const found = ids.slice((page - 1) * 2, page * 2).map((id) => ({ id }));
    return JSON.stringify(answer(found, page, ids.length));
  });
  return { url, asked };
}

const declared = (base_url: string, paging: object) => ({
  connector: 'http',
  base_url,
  offers: {
    query: { page: '{page}', limit: '{size}' },
    paging: { kind: 'page', size: 20, ...paging },
    records: 'items',
    fields: { external_id: 'id' },
  },
});
const exportedIds = (offers: unknown[]) => offers.map((offer) => (offer as { external_id: unknown }).external_id);

describe('pages that are shorter than asked for', () => {
  it('are no end where nothing says how many there are: an empty page is', async () => {
    const { url, asked } = await cutNetwork((items) => ({ items }));
    const { pulled, offers } = await pullMine(declared(url, {}));
    expect(pulled).toMatchObject({ status: 'done', pages: 4, records: 5 });
    expect(exportedIds(offers)).toEqual(ids);
    expect(asked).toEqual([1, 2, 3, 4]);
  });

  it('are no end where the declared places of totals have nothing', async () => {
    const { url } = await cutNetwork((items) => ({ items, total: null, pages: null, next: null, more: null }));
    const { pulled } = await pullMine(declared(url, { total: 'total', pages: 'pages', next: 'next', more: 'more' }));
    expect(pulled).toMatchObject({ status: 'done', pages: 4, records: 5 });
  });

  it.each<[absent: string, paging: object, own: (page: number) => object]>([
    ['next is null', { next: 'next' }, (page) => ({ next: page < 3 ? page + 1 : null })],
    ['next is absent', { next: 'next' }, (page) => (page < 3 ? { next: page + 1 } : {})],
    ['more is absent', { more: 'more' }, (page) => (page < 3 ? { more: true } : {})],
    ['pages is on the first alone', { pages: 'pages' }, (page) => (page === 1 ? { pages: 3 } : {})],
    ['next is a word', { more: 'more', next: 'next' }, (page) => ({ next: page < 3 ? page + 1 : 'none' })],
  ])('end where %s on the last page, and answers before had it', async (_absent, paging, own) => {
    // What follows the last page is another one that it repeats, which would fail the pull.
    const { url, asked } = await cutNetwork((found, page) => ({
      items: page > 3 ? [{ id: 'e' }] : found,
      ...own(Math.min(page, 3)),
    }));
    const { pulled, offers } = await pullMine(declared(url, paging));
    expect(pulled).toMatchObject({ error: null, status: 'done', pages: 3, records: 5 });
    expect(exportedIds(offers)).toEqual(ids);
    expect(asked).toEqual([1, 2, 3]);
  });

  it.each<[says: string, paging: object, own: (page: number) => object]>([
    ['more', { more: 'more' }, (page) => ({ more: page < 5 })],
    ['pages', { pages: 'pages' }, () => ({ pages: 5 })],
    ['pages on the first alone', { pages: 'pages' }, (page) => (page === 1 ? { pages: 5 } : {})],
  ])('are no end where they are empty and the answer has %s', async (_says, paging, own) => {
    const filled = [1, 4, 5];
    const { url, asked } = await cutNetwork((_found, page) => {
      const at = filled.indexOf(page) * 2;
      const items = at < 0 ? [] : ids.slice(at, at + 2).map((id) => ({ id }));
      return { items, ...own(page) };
    });
    const { pulled, offers } = await pullMine(declared(url, paging));
    expect(pulled).toMatchObject({ error: null, status: 'done', pages: 5, records: 5 });
    expect(exportedIds(offers)).toEqual(ids);
    expect(asked).toEqual([1, 2, 3, 4, 5]);
  });

  it('end at an empty one where the next number is always one more', async () => {
    const { url, asked } = await cutNetwork((items, page) => ({ items, next: page + 1 }));
    const { pulled } = await pullMine(declared(url, { next: 'next' }));
    expect(pulled).toMatchObject({ status: 'done', pages: 4, records: 5 });
    expect(asked).toEqual([1, 2, 3, 4]);
  });

  it('end at a page of nothing but known records', async () => {
    const { url } = await cutNetwork((found, page) => ({ items: page === 4 ? [{ id: 'd' }, { id: 'e' }] : found }));
    const { pulled, offers } = await pullMine(declared(url, {}));
    expect(pulled).toMatchObject({ status: 'done', pages: 4, records: 5 });
    expect(exportedIds(offers)).toEqual(ids);
  });

  it('fail where the server ignores the number', async () => {
    const url = await serve(() => JSON.stringify({ items: [{ id: 'a' }, { id: 'b' }] }));
    const { pulled, offers } = await pullMine(declared(url, {}));
    expect(pulled).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(
        "page 2 repeats an earlier one: the server ignores the page's number; where the list has one page, leave",
      ) as string,
    });
    expect(offers).toEqual([]);
  });

  it('of TUNE are no end, though it leaves its counts out and cuts the limit', async () => {
    const { url, asked } = await cutNetwork((found, page) => ({
      response: {
        status: 1,
        data: {
          page,
          current: found.length,
          count: null,
          pageCount: null,
          data: found.length === 0 ? [] : Object.fromEntries(found.map((offer, at) => [at, { Offer: offer }])),
        },
      },
    }));
    const { pulled, offers } = await pullMine({
      connector: 'tune',
      base_url: url,
      secrets: { api_key: 'k3y' },
      pull: ['offers'],
    });
    expect(pulled).toMatchObject({ status: 'done', records: 5 });
    expect(exportedIds(offers)).toEqual(ids);
    expect(asked).toEqual([1, 2, 3, 4]);
  });
});

it.each<[format: string, records: string, page: (ids: string[]) => string]>([
  ['csv', '', (found) => ['id,title', ...found.map((id) => `${id},Offer ${id}`)].join('\n')],
  ['csv', '', (found) => (found.length === 0 ? '' : ['id', ...found].join('\n'))],
  ['xml', 'list.offer', (found) => `<list>${found.map((id) => `<offer><id>${id}</id></offer>`).join('')}</list>`],
  [
    'xml',
    'list.offer',
    (found) => (found.length === 0 ? '<list/>' : `<list><offer><id>${found[0]}</id></offer></list>`),
  ],
])('pages of %s end with an empty one', async (format, records, page) => {
  const url = await serve(({ searchParams }) => {
    const number = Number(searchParams.get('page'));
    return page(ids.slice(0, 3).slice(number - 1, number));
  });
  const { pulled, offers } = await pullMine({
    connector: 'http',
    base_url: url,
    offers: { format, records, query: { page: '{page}' }, paging: { kind: 'page' }, fields: { external_id: 'id' } },
  });
  expect(pulled).toMatchObject({ error: null, status: 'done', pages: 4, records: 3 });
  expect(exportedIds(offers)).toEqual(['a', 'b', 'c']);
});
