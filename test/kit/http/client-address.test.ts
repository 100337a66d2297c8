import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { clientAddresses } from '../../../src/kit/http/client-address.ts';

describe('whose request it is', () => {
  const alone = clientAddresses([]);

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    [undefined, 'unknown'],
  ])('%s counts as %s', (remote, client) => {
    expect(alone(remote, undefined)).toBe(client);
    // Nobody is believed who is not configured.
    expect(alone(remote, '203.0.113.9')).toBe(client);
  });

  const behind = clientAddresses(['10.0.0.0/8', '198.51.100.1', '2001:db8:ffff::/48']);

  test.each([
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['2001:db8:ffff::1', '203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['10.1.2.3', '203.0.113.9,198.51.100.1', '203.0.113.9'],
    // What the client itself wrote stands before what the proxies added.
    ['10.1.2.3', '8.8.8.8, 203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '8.8.8.8, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['10.1.2.3', '10.4.4.4, 10.9.9.9', '10.4.4.4'],
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', 'unknown', '10.1.2.3'],
    ['10.1.2.3', '203.0.113.9, nonsense', '10.1.2.3'],
    ['10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['10.1.2.3', '[2001:db8:1:2::5]:443', '2001:db8:1:2::/64'],
    ['198.51.100.2', '203.0.113.9', '198.51.100.2'],
  ])('from %s, forwarded for %s: %s', (remote, forwarded, client) => {
    expect(behind(remote, forwarded)).toBe(client);
  });
});

test.each(['10.0.0.0/33', '10.0.0', 'proxy.example', '10.0.0.1/8/8', '10.0.0.1/', '::1/129', '10.0.0.1/-1'])(
  '%s is no trusted proxy',
  (text) => {
    expect(() => parseSettings(JSON.stringify({ trusted_proxies: [text] }), 'offerline.json')).toThrow(
      /trusted_proxies/,
    );
  },
);

test('addresses and networks are trusted proxies', () => {
  const networks = ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8'];
  expect(parseSettings(JSON.stringify({ trusted_proxies: networks }), 'offerline.json').trusted_proxies).toEqual(
    networks,
  );
});
