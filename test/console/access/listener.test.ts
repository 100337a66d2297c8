import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { readTls, refuseUnsafeListener } from '../../../src/console/access/safe-listener.ts';
import { settingsOf, temporaryFolder } from './console-for-test.ts';

const pem = join(import.meta.dirname, '../../support/self-signed.pem');
const tls = { key: pem, cert: pem };

it('listens on loopback without users and TLS', () => {
  expect(defaultSettings.console).toEqual({ host: '127.0.0.1', port: 8081, hosts: [] });
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
    expect(() => refuseUnsafeListener(settingsOf({ console: { host } }), 0)).not.toThrow();
});

it.for([
  ['0.0.0.0', {}, 0, 'console add <name> --role operator'],
  ['::', { tls }, 0, 'without users'],
  ['192.0.2.7', {}, 1, 'without TLS: set console.tls'],
  ['console.example', {}, 1, 'trusted_proxies'],
  ['localhost.example', {}, 0, 'without users'],
] as const)('does not listen on %s with %o and %i users: %s', ([host, more, users, message]) => {
  expect(() => refuseUnsafeListener(settingsOf({ console: { host, ...more } }), users)).toThrow(message);
});

it('listens on other addresses with users, and TLS or a proxy', () => {
  const host = '0.0.0.0';
  expect(() => refuseUnsafeListener(settingsOf({ console: { host, tls } }), 1)).not.toThrow();
  expect(() => refuseUnsafeListener(settingsOf({ console: { host }, trusted_proxies: ['10.0.0.1'] }), 1)).not.toThrow();
  expect(() => refuseUnsafeListener(settingsOf({ console: { host }, trusted_proxies: ['10.0.0.1'] }), 0)).toThrow(
    'without users',
  );
});

it('a proxy header without trusted proxies is refused', () => {
  const settings = settingsOf({ console: { proxy_header: { user: 'X-Forwarded-User' } } });
  expect(() => refuseUnsafeListener(settings, 0)).toThrow('trusted_proxies');
});

it.for([
  [{ host: '' }, 'host'],
  [{ public_url: 'console.example' }, 'public_url'],
  [{ public_url: 'https://console.example/console' }, 'is not an address without a path'],
  [{ public_url: 'https://user:word@console.example' }, 'is not an address without a path'],
  [{ hosts: ['https://console.example'] }, 'is not a name such as console.example'],
  [{ hosts: ['*'] }, 'is not a name'],
  [{ tls: { key: pem } }, 'cert'],
  [{ tls: { key: 'key.pem', cert: pem } }, 'is not an absolute path'],
  [{ proxy_header: { role: 'X-Role' } }, 'user'],
  [{ proxy_header: { user: 'X User' } }, 'is not the name of a header'],
  [{ users: [] }, 'users'],
] as const)('%o is refused: %s', ([settings, message]) => {
  expect(() => settingsOf({ console: settings })).toThrow(message);
});

it('key and certificate are read; an error names their files', async () => {
  expect(readTls(tls).key.toString()).toContain('BEGIN');
  const broken = join(await temporaryFolder(), 'broken.pem');
  expect(() => readTls({ key: broken, cert: pem })).toThrow(/console\.tls\.key .* cannot be read/);
  await writeFile(broken, 'no key');
  expect(() => readTls({ key: broken, cert: pem })).toThrow(/broken\.pem and .* are not a key and its certificate/);
});
