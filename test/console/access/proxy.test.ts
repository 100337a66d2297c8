import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { connectionChecks } from '../../../src/console/access/connection-checks.ts';
import { addUser } from '../../../src/console/access/users.ts';
import { consoleForTest, cookieOf, settingsOf } from './console-for-test.ts';

const proxy_header = { user: 'X-Forwarded-User', role: 'X-Forwarded-Role' };
const trusted = settingsOf({ trusted_proxies: ['127.0.0.1'], console: { proxy_header } });
const headersOfProxy = { 'x-forwarded-user': 'ada@example.com', 'x-forwarded-role': 'operator' };

it('a proxy of trusted_proxies names the user', async () => {
  const running = await consoleForTest(trusted);
  expect((await running.ask('/offers', { headers: headersOfProxy })).body).toBe('ada@example.com operator');
  expect((await running.post('/actions', {}, headersOfProxy)).status).toBe(200);
  expect((await running.post('/actions', {}, { ...headersOfProxy, 'x-forwarded-role': 'viewer' })).status).toBe(403);
  for (const wrong of [
    { 'x-forwarded-user': '' },
    { 'x-forwarded-user': 'local operator' },
    { 'x-forwarded-user': ['ada', 'eve'] },
    { 'x-forwarded-role': 'admin' },
    { 'x-forwarded-role': ['operator', 'viewer'] },
    { 'x-forwarded-role': undefined },
  ]) {
    const headers = Object.fromEntries(
      Object.entries({ ...headersOfProxy, ...wrong }).filter(([, value]) => value !== undefined),
    );
    expect((await running.ask('/offers', { headers })).status, JSON.stringify(wrong)).toBe(401);
  }
  expect(running.acted).toEqual(['ada@example.com']);
});

it('a form of a foreign page is refused, whichever user the proxy names', async () => {
  const running = await consoleForTest(trusted);
  const headers = { ...headersOfProxy, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  expect((await running.ask('/actions', { method: 'POST', form: {}, headers })).status).toBe(403);
});

it.for([
  ['no proxy is trusted', settingsOf({ console: { proxy_header } })],
  ['another proxy is trusted', settingsOf({ trusted_proxies: ['192.0.2.1', '10.0.0.0/8'], console: { proxy_header } })],
  ['no header is configured', settingsOf({ trusted_proxies: ['127.0.0.1'] })],
] as const)('the headers name no user where %s', async ([, settings]) => {
  const running = await consoleForTest(settings);
  const headers = {
    ...headersOfProxy,
    'x-forwarded-for': '192.0.2.1',
    'x-real-ip': '192.0.2.1',
    forwarded: 'for=192.0.2.1',
  };
  expect((await running.ask('/offers', { headers })).status).toBe(401);
  expect((await running.post('/actions', {}, headers)).status).toBe(401);
});

it('without a header for the role the users’ file decides', async () => {
  const running = await consoleForTest(
    settingsOf({ trusted_proxies: ['127.0.0.1'], console: { proxy_header: { user: 'Remote-User' } } }),
  );
  await addUser(running.usersFile, { name: 'vera', role: 'viewer' });
  await running.users.poll();
  const headers = { 'remote-user': 'vera', 'x-forwarded-role': 'operator' };
  expect((await running.ask('/offers', { headers })).body).toBe('vera viewer');
  expect((await running.ask('/offers', { headers: { 'remote-user': 'eve' } })).status).toBe(401);
});

it('the cookie is secure where the browser uses TLS with the proxy', async () => {
  const enter = async (settings: object, headers: Record<string, string>) => {
    const running = await consoleForTest(settingsOf(settings));
    return cookieOf(await running.post(running.access.issueLink(), {}, headers)).cookie.split('=')[0];
  };
  const forwarded = { 'x-forwarded-proto': 'https' };
  expect(await enter({ trusted_proxies: ['127.0.0.1'] }, forwarded)).toBe('__Host-offerline-console');
  expect(await enter({}, forwarded)).toBe('offerline-console');
  const publicUrl = { console: { public_url: 'https://console.example' } };
  expect(await enter(publicUrl, { host: 'console.example' })).toBe('__Host-offerline-console');
  expect(await enter(publicUrl, {})).toBe('offerline-console');
});

it('a request from another machine needs the proxy or TLS', () => {
  const { isExposed } = connectionChecks(settingsOf({ trusted_proxies: ['10.0.0.0/8'] }));
  const from = (remoteAddress: string | undefined, encrypted?: true) =>
    ({ headers: {}, socket: { remoteAddress, encrypted } }) as unknown as IncomingMessage;
  expect(
    ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '10.1.2.3', '::ffff:10.1.2.3'].map((address) =>
      isExposed(from(address)),
    ),
  ).toEqual([false, false, false, false, false, false]);
  expect(['192.0.2.7', '::ffff:192.0.2.7', 'fe80::1', undefined].map((address) => isExposed(from(address)))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(isExposed(from('192.0.2.7', true))).toBe(false);
});
