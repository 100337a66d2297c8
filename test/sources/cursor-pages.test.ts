import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { dataWith, serve, terminal } from '../support/declared-network.ts';

const fields = { external_id: 'id', title: 'id', payout: { value: '1' } };

async function pull(base_url: string, offers: object) {
  const source = { source: 'mine', connector: 'http', base_url, secrets: { key: 's3cret' } };
  const data = await dataWith({ ...source, offers: { records: 'items', fields, ...offers } });
  const [pulled] = await pullSources({ data, terminal });
  return { pulled, data };
}

async function ids(data: DataDirectory): Promise<unknown[]> {
  const folder = join(data.landing, 'offers', 'mine');
  const [file = ''] = await readdir(folder);
  const lines = (await readFile(join(folder, file), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { external_id: unknown }).external_id);
}

const item = (id: string) => ({ id });

describe('pages that each lead to the next', () => {
  it('by a text in the query are read until there is none, empty ones in between too', async () => {
    const asked: string[] = [];
    const pages: Record<string, object> = {
      '': { items: [item('a')], page: { next: 'x/1+' } },
      'x/1+': { items: [], page: { next: 2 } },
      '2': { items: [item('b')], page: { next: '' } },
    };
    const url = await serve(({ search, searchParams }) => {
      asked.push(search);
      return JSON.stringify(pages[searchParams.get('after') ?? '']);
    });
    const paging = { kind: 'cursor', next: 'page.next', size: 2 };
    const { pulled, data } = await pull(url, { query: { n: '{size}', after: '{cursor}' }, paging });
    expect(pulled).toMatchObject({ status: 'done', pages: 3, records: 2 });
    expect(await ids(data)).toEqual(['a', 'b']);
    // The first page has no cursor.
    expect(asked).toEqual(['?n=2', '?n=2&after=x%2F1%2B', '?n=2&after=2']);
  });

  it.each([
    [
      'a body',
      { method: 'POST', body: { limit: 1, after: '{cursor}', text: 'after "{cursor}"' } },
      ['/ undefined {"limit":1,"text":"after \\"\\""}', '/ undefined {"limit":1,"after":"c1","text":"after \\"c1\\""}'],
    ],
    ['a path', { path: '/list/{cursor}' }, ['/list/ undefined ', '/list/c1 undefined ']],
    ['a header', { headers: { 'X-After': '{cursor}' } }, ['/ undefined ', '/ c1 ']],
  ])('by a text in %s are read', async (_where, request, expected) => {
    const asked: string[] = [];
    const url = await serve(({ pathname }, headers, body) => {
      const sent = `${pathname} ${String(headers['x-after'])} ${body}`;
      asked.push(sent);
      return JSON.stringify(sent.includes('c1') ? { items: [item('b')] } : { items: [item('a')], next: 'c1' });
    });
    const { pulled, data } = await pull(url, { ...request, paging: { kind: 'cursor', next: 'next' } });
    expect(pulled).toMatchObject({ status: 'done', pages: 2 });
    expect(await ids(data)).toEqual(['a', 'b']);
    expect(asked).toEqual(expected);
  });

  it('by an address are read with the keys that it leaves out', async () => {
    const asked: string[] = [];
    const url = await serve(({ pathname, search }, { 'x-key': key }) => {
      asked.push(`${pathname}${search} ${String(key)}`);
      const next = search.includes('from=2') ? null : search.includes('from=1') ? '?from=2' : `${url}/v2/list?from=1`;
      return JSON.stringify({ items: [item(search)], links: { next } });
    });
    const query = { api_key: '{key}', sort: 'id' };
    const paging = { kind: 'cursor', next_url: 'links.next' };
    const { pulled } = await pull(url, { path: '/list', query, headers: { 'X-Key': '{key}' }, paging });
    expect(pulled).toMatchObject({ status: 'done', pages: 3 });
    expect(asked).toEqual([
      '/list?api_key=s3cret&sort=id s3cret',
      '/v2/list?from=1&api_key=s3cret s3cret',
      '/list?from=2&api_key=s3cret s3cret',
    ]);
  });

  it('end where the answer says that there is no other', async () => {
    const url = await serve(() => JSON.stringify({ items: [item('a')], next: 'again', more: false }));
    const paging = { kind: 'cursor', next: 'next', more: 'more' };
    const { pulled } = await pull(url, { query: { after: '{cursor}' }, paging });
    expect(pulled).toMatchObject({ status: 'done', pages: 1 });
  });

  it.each([
    ['https://elsewhere.example/list', 'the next page is on another server'],
    ['//elsewhere.example/list', 'the next page is on another server'],
    ['https://127.0.0.1/list', 'the next page is on another server'],
    ['http://[', 'the address of the next page that the answer gives is no address'],
    [{ href: '/list' }, 'the value at "next" is no text or number'],
    ['x'.repeat(9000), 'has more than 8192 characters'],
  ])('at %j fail, and nothing is sent there', async (next, error) => {
    const url = await serve(() => JSON.stringify({ items: [item('a')], next }));
    const { pulled, data } = await pull(url, { paging: { kind: 'cursor', next_url: 'next' } });
    expect(pulled).toMatchObject({ status: 'failed', error: expect.stringContaining(error) as string });
    await expect(ids(data)).rejects.toThrow('ENOENT');
  });

  it('in a circle end with an error that says so', async () => {
    let requests = 0;
    const url = await serve(() => JSON.stringify({ items: [item(String(++requests))], next: requests % 3 }));
    const { pulled } = await pull(url, { query: { after: '{cursor}' }, paging: { kind: 'cursor', next: 'next' } });
    expect(pulled).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('the cursor after page 4 is that of an earlier page') as string,
    });
    expect(requests).toBe(4);
  });

  it('whose cursor is not sent on are the same page, which fails', async () => {
    let requests = 0;
    const url = await serve(() => JSON.stringify({ items: [item('a')], next: ++requests }));
    const { pulled } = await pull(url, { query: { after: '{cursor}' }, paging: { kind: 'cursor', next: 'next' } });
    expect(pulled).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('the server ignores the cursor') as string,
    });
  });
});

it.each([
  [{ kind: 'cursor' }, {}, 'say one of them'],
  [{ kind: 'cursor', next: 'a', next_url: 'b' }, { query: { a: '{cursor}' } }, 'say one of them'],
  [{ kind: 'cursor', next: 'a' }, {}, 'is sent nowhere: write {cursor}'],
  [{ kind: 'cursor', next_url: 'a' }, { format: 'csv' }, 'is for answers of JSON'],
])('paging %j with %j is refused before anything is sent', async (paging, request, error) => {
  await expect(pull('https://x.example', { ...request, paging })).rejects.toThrow(error);
});
