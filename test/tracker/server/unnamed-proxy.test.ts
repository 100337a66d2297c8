import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { unnamedProxy } from '../../../src/tracker/server/unnamed-proxy.ts';
import { offerline } from '../../support/command-line.ts';
import { TrackerUnderTest } from '../tracker-under-test.ts';

const warned = (settings: object) => unnamedProxy(parseSettings(JSON.stringify(settings), 'offerline.json'));
const elsewhere = { tracking_url: 'https://track.example.net' };

it('links that lead to another host, with no proxy to believe, are warned of', () => {
  expect(warned(elsewhere)).toContain('track.example.net');
  expect(warned({ tracking_url: 'http://192.0.2.7:8082' })).toContain('trusted_proxies');
  expect(warned({ ...elsewhere, trusted_proxies: ['127.0.0.1'] })).toBeUndefined();
});

it.each([
  {},
  ...['http://127.0.0.1:8082', 'http://localhost', 'http://[::1]:1'].map((tracking_url) => ({ tracking_url })),
])('links to this machine are not: %j', (settings) => expect(warned(settings)).toBeUndefined());

it('`track` says so as it starts, once', async () => {
  await using test = await TrackerUnderTest.start();
  await test.stop();
  writeFileSync(test.data.settingsFile, JSON.stringify(elsewhere));
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await offerline(test.data.root, 'track', '--port', String(port));
  taken.close();
  expect(code).toBe(2);
  expect(stderr.match(/trusted_proxies/g)).toHaveLength(1);
});
