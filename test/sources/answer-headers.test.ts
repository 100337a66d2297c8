import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { dataWith, pullMine } from '../support/declared-network.ts';

const ids = ['a', 'b', 'c', 'd', 'e'];

/** A network of pages of two, with headers that `headersOf` makes for the page. */
async function pull(paging: object, headersOf: (page: number, base: string) => OutgoingHttpHeaders) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 1);
    const found = ids.slice((page - 1) * 2, page * 2).map((id) => ({ id }));
    response.writeHead(200, headersOf(page, base_url)).end(JSON.stringify(found));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const isNumbered = (paging as { kind: string }).kind === 'page';
  const query = { key: '{key}', ...(isNumbered && { page: '{page}' }) };
  const offers = { query, paging, fields: { external_id: 'id' } };
  const { pulled } = await pullMine({ connector: 'http', base_url, secrets: { key: 's3cret' }, offers });
  return { pulled, asked };
}

describe('paging by headers of the answer', () => {
  it.each<[what: string, paging: object, headersOf: (page: number) => OutgoingHttpHeaders]>([
    ['a total', { total: { header: 'X-Pagination-Total-Count' } }, () => ({ 'x-pagination-total-count': 5 })],
    ['a number of pages', { pages: { header: 'X-Pages' } }, () => ({ 'X-Pages': 3 })],
    ['the next page', { next: { header: 'x-next' } }, (page) => (page < 3 ? { 'X-Next': page + 1 } : { 'X-Next': 3 })],
  ])('ends by %s', async (_what, paging, headersOf) => {
    const { pulled, asked } = await pull({ kind: 'page', ...paging }, headersOf);
    expect(pulled).toMatchObject({ status: 'done', pages: 3, records: 5 });
    expect(asked).toHaveLength(3);
  });

  it('fails where the total is not met', async () => {
    const { pulled } = await pull({ kind: 'page', total: { header: 'X-Total' } }, () => ({ 'x-total': 6 }));
    expect(pulled).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('states 6 records, and 5 came') as string,
    });
  });

  it.each<[what: string, link: (page: number, base: string) => string | string[]]>([
    ['one header', (page) => `</?page=1>; rel="first", </?page=${page + 1}>; title="a, b"; rel="next"`],
    ['headers of its own', (page, base) => [`<${base}/?page=1>; rel=first`, `<${base}/?page=${page + 1}>; rel=next`]],
    ['one of several relations', (page) => `<?page=${page + 1}>; rel="last next"`],
  ])('follows the next of Link in %s, with the key', async (_what, link) => {
    const { pulled, asked } = await pull({ kind: 'cursor', next_url: { header: 'Link' } }, (page, base) => ({
      link: page < 3 ? link(page, base) : '</?page=1>; rel="first"',
    }));
    expect(pulled).toMatchObject({ status: 'done', pages: 3, records: 5 });
    expect(asked).toEqual(['/?key=s3cret', '/?page=2&key=s3cret', '/?page=3&key=s3cret']);
  });

  it('does not follow Link to another host', async () => {
    const { pulled } = await pull({ kind: 'cursor', next_url: { header: 'Link' } }, () => ({
      link: '<https://elsewhere.example/>; rel=next',
    }));
    expect(pulled).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('the next page is on another server') as string,
    });
  });
});

it.each([
  [{ kind: 'page', total: { header: 'a b' } }, 'is no name of a header'],
  [{ kind: 'page', total: { head: 'a' } }, 'paging.total'],
])('paging %j is refused', async (paging, error) => {
  const offers = { paging, query: { p: '{page}' }, fields: { external_id: 'id' } };
  const data = await dataWith({ source: 'a', connector: 'http', base_url: 'https://x.example', offers });
  expect(() => readSources(data)).toThrow(error);
});
