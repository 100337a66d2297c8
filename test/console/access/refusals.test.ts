import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { knownHosts } from '../../../src/console/access/request-origin.ts';
import { addUser } from '../../../src/console/access/users.ts';
import {
  consoleForTest,
  cookieOf,
  settingsOf,
  type Answer,
  type AskOptions,
  type ConsoleForTest,
} from './console-for-test.ts';

const headersOfAll = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

const enter = async (running: ConsoleForTest) => cookieOf(await running.post(running.access.issueLink()));

it('every answer has the headers', async () => {
  const running = await consoleForTest();
  const headers = await enter(running);
  const answers: [status: number, Answer][] = [
    [200, await running.ask('/offers', { headers })],
    [200, await running.ask('/offers', { method: 'HEAD', headers })],
    [200, await running.ask('/style.css')],
    [303, await running.post('/sign-out')],
    [400, await running.ask('/%ff', { headers })],
    [401, await running.ask('/offers')],
    [403, await running.ask('/offers', { method: 'PUT', headers })],
    [404, await running.ask('/nothing-there', { headers })],
    [410, await running.post('/enter/none')],
    [415, await running.post('/actions', { a: 'b' }, { ...headers, 'content-type': 'application/json' })],
    [421, await running.ask('/offers', { headers: { host: 'evil.example' } })],
    [500, await running.ask('/fails', { headers })],
  ];
  for (const [status, answer] of answers) {
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject(headersOfAll);
  }
});

it('a request that is not HTTP gets the headers, too, and is not repeated', async () => {
  const { host } = await consoleForTest();
  const { hostname, port } = new URL(`http://${host}`);
  for (const [status, sent] of [
    [400, 'HOSTILE\r\n\r\n'],
    [431, `GET / HTTP/1.1\r\nhost: ${host}\r\nx: HOSTILE${'a'.repeat(20_000)}\r\n\r\n`],
  ] as const) {
    const socket = connect(Number(port), hostname);
    socket.write(sent);
    const answer = await text(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const [name, value] of Object.entries(headersOfAll)) expect(answer).toContain(`${name}: ${value}\r\n`);
    expect(answer).not.toContain('HOSTILE');
  }
});

it('an unknown Host is refused before all other checks', async () => {
  const running = await consoleForTest();
  const headers = await enter(running);
  const port = running.host.split(':')[1];
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, running.host, '127.0.0.1'])
    expect((await running.ask('/offers', { headers: { ...headers, host } })).status, host).toBe(200);
  const foreign = [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1:1',
    'localhost.',
    `127.0.0.1.evil.example:${port}`,
  ];
  for (const host of [...foreign, `127.0.0.2:${port}`])
    for (const path of ['/offers', '/nothing-there', '/enter/a', '/style.css']) {
      const answer = await running.ask(path, { headers: { ...headers, host } });
      expect([answer.status, answer.body.includes('<')], `${host} ${path}`).toEqual([421, false]);
    }
  // This check comes before that of the origin; nothing is done.
  const path = running.access.issueLink();
  expect((await running.post(path, {}, { host: 'evil.example' })).status).toBe(421);
  expect((await running.post(path)).status).toBe(303);
});

it('loopback names are known on loopback connections only', () => {
  const isKnown = knownHosts(settingsOf({ console: { host: '0.0.0.0' } }).console);
  const asked = (host: string, localAddress: string) =>
    isKnown({ headers: { host }, socket: { localAddress, localPort: 8081 } } as unknown as IncomingMessage);
  expect([asked('localhost:8081', '127.0.0.1'), asked('localhost:8081', '192.0.2.7')]).toEqual([true, false]);
  // No address of another interface has this name.
  expect([asked('0.0.0.0:8081', '192.0.2.7'), asked('0.0.0.0:8081', '127.0.0.1')]).toEqual([false, false]);
  const isKnownByAddress = knownHosts(settingsOf({ console: { host: 'FE80::7' } }).console);
  const socket = { localAddress: 'fe80::7', localPort: 8081 };
  for (const [host, known] of [
    ['[fe80::7]:8081', true],
    ['[fe80::7]:8082', false],
    ['[fe80::8]:8081', false],
  ] as const)
    expect(isKnownByAddress({ headers: { host }, socket } as unknown as IncomingMessage), host).toBe(known);
});

it.for(['GET /offers HTTP/1.0\r\n\r\n', 'GET /offers HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n'])(
  'no Host is none of ours: %j',
  async (request) => {
    const running = await consoleForTest();
    const socket = connect(Number(running.host.split(':')[1]), '127.0.0.1');
    socket.end(request);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 421 /);
  },
);

it('names of the configuration are known', async () => {
  const running = await consoleForTest(
    settingsOf({
      console: { public_url: 'https://console.example/', hosts: ['Inner.example', 'mapped.example:9000'] },
    }),
  );
  const port = running.host.split(':')[1];
  const statusOf = async (host: string) => (await running.ask('/offers', { headers: { host } })).status;
  for (const host of ['console.example', 'inner.example', `inner.example:${port}`, 'mapped.example:9000'])
    expect(await statusOf(host), host).toBe(401);
  for (const host of ['console.example:444', 'inner.example:9000', 'mapped.example', `mapped.example:${port}`])
    expect(await statusOf(host), host).toBe(421);
});

it('a form of another page is refused, and one without an origin', async () => {
  const running = await consoleForTest();
  const headers = await enter(running);
  // Such as a page of the publishers' API: same host, other port, so the browser sends the cookie.
  const siblingOrigin = `http://127.0.0.1:${Number(running.host.split(':')[1]) + 1}`;
  const own = `http://${running.host}`;
  const refused = [
    {},
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: siblingOrigin },
    { origin: siblingOrigin, 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    // The header that only a browser sets counts before other headers.
    { origin: own, 'sec-fetch-site': 'cross-site' },
    { referer: `${own}/offers` },
  ];
  for (const origins of refused)
    for (const path of ['/actions', '/sign-out', '/sign-in']) {
      const answer = await running.ask(path, { method: 'POST', form: {}, headers: { ...headers, ...origins } });
      expect(answer.status, JSON.stringify(origins)).toBe(403);
    }
  expect(running.acted).toEqual([]);
  for (const origins of [{ origin: own }, { origin: 'null', 'sec-fetch-site': 'same-origin' }])
    expect(
      (await running.ask('/actions', { method: 'POST', form: {}, headers: { ...headers, ...origins } })).status,
    ).toBe(200);
  expect(running.acted).toEqual(['local operator', 'local operator']);
});

it('a viewer reads every page and starts no action', async () => {
  const running = await consoleForTest();
  const token = await addUser(running.usersFile, { name: 'vera', role: 'viewer' });
  const headers = cookieOf(await running.post('/sign-in', { token }));
  expect((await running.ask('/offers', { headers })).body).toBe('vera viewer');
  expect((await running.post('/actions', {}, headers)).status).toBe(403);
  expect((await running.post('/nothing-there', {}, headers)).status).toBe(403);
  expect((await running.ask('/preview', { headers })).status).toBe(403);
  expect((await running.post('/actions')).status).toBe(401);
  expect(running.acted).toEqual([]);
  expect((await running.ask('/preview', { headers: await enter(running) })).status).toBe(200);
});

it('five guesses a minute are the limit, for the right token, too', async () => {
  const running = await consoleForTest();
  const token = await addUser(running.usersFile, { name: 'ada', role: 'viewer' });
  const path = running.access.issueLink();
  for (const guess of [1, 2, 3]) expect((await running.post('/sign-in', { token: `guess ${guess}` })).status).toBe(401);
  for (const guess of [4, 5]) expect((await running.post(`/enter/guess-${guess}`)).status).toBe(410);
  const refused = await running.post('/sign-in', { token });
  expect([refused.status, refused.headers['retry-after'], refused.headers['set-cookie']]).toEqual([
    429,
    '60',
    undefined,
  ]);
  expect((await running.post(path)).status).toBe(429);
  running.clock.now += 60_000;
  expect((await running.post('/sign-in', { token })).status).toBe(303);
  expect((await running.post(path)).status).toBe(303);
});

it('behind a proxy guesses count by the forwarded address; a forged header changes nothing', async () => {
  const guesses = async (running: ConsoleForTest) => {
    const statuses = [];
    for (const last of [1, 2, 3, 4, 5, 6])
      statuses.push((await running.post('/sign-in', {}, { 'x-forwarded-for': `192.0.2.${last}` })).status);
    return statuses;
  };
  const behind = settingsOf({ trusted_proxies: ['127.0.0.1'] });
  expect(await guesses(await consoleForTest(behind))).toEqual([401, 401, 401, 401, 401, 401]);
  expect(await guesses(await consoleForTest())).toEqual([401, 401, 401, 401, 401, 429]);
});

it('20 pages a second and 10 actions a minute are the limit, by user or by address', async () => {
  const running = await consoleForTest(settingsOf({ trusted_proxies: ['127.0.0.1'] }));
  const headers = await enter(running);
  const pages = async (asked: number, how?: AskOptions) => {
    const statuses = await Promise.all(
      Array.from({ length: asked }, async () => (await running.ask('/offers', how)).status),
    );
    return statuses.filter((status) => status === 429).length;
  };
  expect(await pages(22, { headers })).toBe(2);
  expect(await pages(21)).toBe(1);
  expect(await pages(20, { headers: { 'x-forwarded-for': '192.0.2.1' } })).toBe(0);
  expect((await running.ask('/style.css', { headers })).status).toBe(200);
  running.clock.now += 1000;
  expect(await pages(1, { headers })).toBe(0);
  for (let action = 0; action < 10; action++) expect((await running.post('/actions', {}, headers)).status).toBe(200);
  const refused = await running.post('/actions', {}, headers);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
  expect(running.acted).toHaveLength(10);
  running.clock.now += 60_000;
  expect((await running.post('/actions', {}, headers)).status).toBe(200);
});

it('under TLS other services cannot set the cookie; one without the prefix opens no session', async () => {
  const pem = readFileSync(join(import.meta.dirname, '../../support/self-signed.pem'));
  const running = await consoleForTest(undefined, { tls: { key: pem, cert: pem } });
  const entered = await running.post(running.access.issueLink());
  expect(entered.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^__Host-offerline-console=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    ),
  ]);
  const { cookie } = cookieOf(entered);
  expect((await running.ask('/offers', { headers: { cookie } })).status).toBe(200);
  expect((await running.ask('/offers', { headers: { cookie: cookie.replace('__Host-', '') } })).status).toBe(401);
  // A page of the same name without TLS may be forged by anybody on the network path.
  const form = { method: 'POST', form: {}, headers: { cookie, origin: `http://${running.host}` } };
  expect((await running.ask('/actions', form)).status).toBe(403);
  form.headers.origin = `https://${running.host}`;
  expect((await running.ask('/actions', form)).status).toBe(200);
});
