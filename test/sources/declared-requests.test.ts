import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { checkSources } from '../../pipelines/check-sources.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { dataWith, pullMine, serve, terminal } from '../support/declared-network.ts';

interface Sent {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const secrets = { user: 'acme', password: 'p:w/rd é', key: 'k3y&=' };
const fields = { external_id: 'id' };

/** Pulls from a network of two pages; gives the requests that it was sent. */
async function sentBy(offers: object, base?: string): Promise<Sent[]> {
  const sent: Sent[] = [];
  const base_url =
    base ??
    (await serve(({ pathname, search }, headers, body) => {
      sent.push({ path: pathname + search, headers, body });
      if (pathname === '/token') return JSON.stringify({ access: 't0k3n' });
      return JSON.stringify({ items: [{ id: sent.length }], pages: 2 });
    }));
  const paging = { kind: 'page', size: 50, pages: 'pages' };
  const { pulled } = await pullMine({
    connector: 'http',
    base_url,
    secrets,
    offers: { records: 'items', paging, fields, ...offers },
  });
  expect(pulled).toMatchObject({ error: null, status: 'done', pages: 2 });
  return sent;
}

const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('a declared request', () => {
  it('may have a form', async () => {
    const form = { api_key: '{key}', page: '{page}', 'status[]': ['live', 'new'] };
    const [, second] = await sentBy({ method: 'POST', form });
    expect(second?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(second?.body).toBe('api_key=k3y%26%3D&page=2&status%5B%5D=live&status%5B%5D=new');
  });

  it('may have JSON with numbers of pages, and braces that are meant', async () => {
    const query = 'query { offers(key: "{key}", page: {page}) \\{id} \\{page} { name } }';
    const [, second] = await sentBy({ method: 'POST', body: { query, variables: { page: '{page}', size: '{size}' } } });
    expect(JSON.parse(second?.body ?? '')).toEqual({
      query: 'query { offers(key: "k3y&=", page: 2) {id} {page} { name } }',
      variables: { page: 2, size: 50 },
    });
  });

  it('may have HTTP Basic of two secrets, or of one', async () => {
    const query = { page: '{page}' };
    const [both] = await sentBy({ query, basic: ['user', 'password'] });
    expect(both?.headers.authorization).toBe(basicOf('acme:p:w/rd é'));
    const [one] = await sentBy({ query, basic: ['key'] });
    expect(one?.headers.authorization).toBe(basicOf('k3y&=:'));
  });

  it.each<[what: string, token: object, expected: Partial<Sent>, headers: object]>([
    [
      'a form with HTTP Basic',
      { form: { grant_type: 'client_credentials' }, basic: ['user', 'password'] },
      { body: 'grant_type=client_credentials' },
      { authorization: basicOf('acme:p:w/rd é'), 'content-type': 'application/x-www-form-urlencoded' },
    ],
    [
      'JSON and headers',
      { body: { login: '{user}', secret: '{password}' }, headers: { 'X-Key': '{key}' } },
      { body: JSON.stringify({ login: 'acme', secret: 'p:w/rd é' }) },
      { 'x-key': 'k3y&=', 'content-type': 'application/json' },
    ],
    ['nothing', {}, { body: '' }, {}],
  ])('may be for a token by %s', async (_what, token, expected, headers) => {
    const sent = await sentBy({
      query: { page: '{page}' },
      headers: { Authorization: 'Bearer {token}' },
      token: { path: '/token', at: 'access', ...token },
    });
    expect(sent[0]).toMatchObject({ path: '/token', ...expected });
    expect(sent[0]?.headers).toMatchObject(headers);
    expect(sent[1]?.headers.authorization).toBe('Bearer t0k3n');
  });

  it('that gets an error in place of a token quotes it', async () => {
    const base_url = await serve(() => JSON.stringify({ error: { message: 'no such client' } }));
    const offers = { token: { path: '/token', at: 'access_token' }, headers: { A: '{token}' }, fields };
    const { pulled } = await pullMine({ connector: 'http', base_url, secrets, offers });
    expect(pulled?.error).toMatch(/\/token: the answer has no "access_token"; it says "no such client"$/);
  });

  it('takes a token from another host where that is declared', async () => {
    const asked: string[] = [];
    const tokens = await serve(({ pathname }, _headers, body) => {
      asked.push(`${pathname} ${body}`);
      return JSON.stringify({ access: 't0k3n' });
    });
    const sent = await sentBy({
      query: { page: '{page}' },
      headers: { Authorization: 'Bearer {token}' },
      token: { base_url: `${tokens}/auth`, path: '/new', form: { key: '{key}' }, at: 'access' },
    });
    expect(asked).toEqual(['/auth/new key=k3y%26%3D']);
    expect(sent.map(({ path, headers }) => `${path} ${headers.authorization}`)).toEqual([
      '/?page=1 Bearer t0k3n',
      '/?page=2 Bearer t0k3n',
    ]);
  });

  it('with HTTP Basic leaves its secrets out of errors, however they are echoed', async () => {
    const base_url = await serve((_url, { authorization = '' }) =>
      JSON.stringify({ ok: false, error: `bad ${authorization} of acme:p:w/rd é` }),
    );
    const success = [{ at: 'ok', is: ['true'] }];
    const offers = { basic: ['user', 'password'], success, fields };
    const { pulled } = await pullMine({ connector: 'http', base_url, secrets, offers });
    expect(pulled?.error).toContain('bad Basic ••• of •••');
  });

  it('leaves no part of a secret in an error that is cut within it', async () => {
    const key = 'k3y-0123456789-abcdefghij';
    const before = 'x'.repeat(190);
    const base_url = await serve(() => JSON.stringify({ ok: false, error: `${before}${key} is not known` }));
    // By a rule about good answers, or since the error is in the place of the list.
    for (const own of [{ success: [{ at: 'ok', is: ['true'] }] }, { records: 'items' }]) {
      const offers = { query: { k: '{key}' }, ...own, fields };
      const { pulled } = await pullMine({ connector: 'http', base_url, secrets: { key }, offers });
      expect(pulled?.error).toContain(`"${before}•••`);
      expect(pulled?.error).not.toContain(key.slice(0, 8));
    }
  });
});

it('a header that a secret cannot be sent in fails at once, and names the secret', async () => {
  const asked: string[] = [];
  const base_url = await serve(({ pathname }) => (asked.push(pathname), '[]'));
  const offers = { headers: { Authorization: 'Bearer {key}' }, fields };
  for (const key of ['k3y\n-of-two-lines', 'k3y-\u2026-typed']) {
    const { pulled } = await pullMine({ connector: 'http', base_url, secrets: { key }, offers });
    expect(pulled?.error).toBe('the header Authorization has a character that none may have: look at key');
  }
  expect(asked).toEqual([]);
});

it.each<[offers: object, error: RegExp]>([
  [{ form: { a: '1' } }, /offers\.form goes with "method": "POST"/],
  [{ method: 'POST', form: { a: '1' }, body: {} }, /offers\.form and "body": say one of them/],
  [{ basic: ['user', 'nobody'] }, /offers\.basic names "nobody", which is none of "secrets"/],
  [{ basic: ['user'], headers: { authorization: 'x' } }, /offers\.basic and the header Authorization: say one of them/],
  [{ basic: ['user', 'password', 'key'] }, /offers\.basic has more than two names/],
  [{ token: { path: '/t', at: 'a', base_url: 'https://{key}.example' } }, /offers\.token\.base_url has a macro/],
  [{ token: { path: '/t', at: 'a', basic: ['nobody'] } }, /offers\.token\.basic names "nobody"/],
])('a request with %j is refused before it is sent', async (request, error) => {
  const offers = { fields, ...request };
  const data = await dataWith({ source: 'a', connector: 'http', base_url: 'https://x.example', secrets, offers });
  expect(() => readSources(data)).toThrow(error);
});

it('an unknown placeholder is refused with the way to write a brace', async () => {
  const offers = { method: 'POST', body: { query: '{offers{id}}' }, fields };
  const data = await dataWith({ source: 'a', connector: 'http', base_url: 'http://127.0.0.1:9', secrets, offers });
  expect(await checkSources({ data, terminal })).toMatchObject([
    { error: expect.stringContaining(String.raw`the unknown placeholder {id}; use a secret's name, or`) as string },
  ]);
});
