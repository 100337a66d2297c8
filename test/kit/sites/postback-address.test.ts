import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readPostbackAddress } from '../../../src/kit/sites/postback-address.ts';
import { readSites } from '../../../src/kit/sites/sites.ts';

function partsOf(url: string) {
  const address = readPostbackAddress(url);
  if ('mistake' in address) throw new Error(address.mistake);
  return {
    origin: address.origin,
    target: address.target.map((part) => (typeof part === 'string' ? part : `<${part.macro}>`)).join(''),
  };
}

describe('an address', () => {
  it.each([
    ['https://a.example', 'https://a.example', '/'],
    ['HTTPS://A.example:443/Cb', 'https://a.example', '/Cb'],
    ['http://a.example:8080?x=1', 'http://a.example:8080', '/?x=1'],
    ['http://0x7f.1/a', 'http://127.0.0.1', '/a'],
    ['http://[::1]:9/a', 'http://[::1]:9', '/a'],
    ['https://bücher.example/ü?q=€', 'https://xn--bcher-kva.example', '/%C3%BC?q=%E2%82%AC'],
    ['https://a.example/a/../{user_id}?s={signature}#top', 'https://a.example', '/a/../<user_id>?s=<signature>'],
    ['https://a.example/100%25/%zz?a=%7Bx%7D', 'https://a.example', '/100%25/%zz?a=%7Bx%7D'],
    ['https://a.example/?json={"a":"b"}', 'https://a.example', '/?json=%7B%22a%22:%22b%22%7D'],
    ['https://a.example/to?{reward}{reward}', 'https://a.example', '/to?<reward><reward>'],
    ['https://a.example/a@b:c', 'https://a.example', '/a@b:c'],
    // As other systems write macros, and as a page shows an address.
    ['https://a.example/?u=%7Buser_id%7D&amp;amt={reward}', 'https://a.example', '/?u=<user_id>&amt=<reward>'],
    ['https://a.example/?u=%7buser_id%7d&#38;e=1', 'https://a.example', '/?u=<user_id>&e=1'],
    ['https://a.example/?u={{user_id}}&c=${click_id}x', 'https://a.example', '/?u=<user_id>&c=<click_id>x'],
    ['https://a.example/[user_id]/?e=%event%&s={$site_key}', 'https://a.example', '/<user_id>/?e=<event>&s=<site_key>'],
    ['https://a.example/?u=#user_id#&r=%23reward%23', 'https://a.example', '/?u=<user_id>&r=<reward>'],
    ['https://a.example/?u=<user_id>&r=%3Creward%3E', 'https://a.example', '/?u=<user_id>&r=<reward>'],
    ['https://a.example/<status>/?s=[sub1]&p={payout}', 'https://a.example', '/<status>/?s=<sub1>&p=<payout>'],
    // Names of parameters, and addresses within addresses, are none.
    ['https://a.example/?f[user_id]=5', 'https://a.example', '/?f[user_id]=5'],
    ['https://a.example/?to=b%3Fu%3D%7Buser_id%7D', 'https://a.example', '/?to=b%3Fu%3D%7Buser_id%7D'],
  ])('%s leads to %s with %s', (url, origin, target) => {
    expect(partsOf(url)).toEqual({ origin, target });
  });

  it.each([
    ['https://{site_key}.example/', 'macro outside'],
    ['https://a.example:{reward}/', 'macro outside'],
    ['{event}://a.example/', 'macro outside'],
    ['https://{user_id}@a.example/', 'macro outside'],
    ['https://a.example/#{signature}', 'macro outside'],
    ['https://a.example/?c={clickid}', 'has {clickid}, which nobody fills: write {click_id}'],
    ['https://a.example/?c={USER_ID}', 'has {USER_ID}, which nobody fills: write {user_id}'],
    ['https://a.example/?c={{clickId}}', 'has {{clickId}}, which nobody fills: write {click_id}'],
    ['https://a.example/?c=%7Bpoints%7D', 'has %7Bpoints%7D, which nobody fills: write {reward}'],
    ['https://a.example/?c={SUB1}', 'has {SUB1}, which nobody fills: write {sub1}'],
    ['https://a.example/?c=[amount]&u={user_id}', 'has [amount], which nobody fills: write {reward}'],
    ['https://a.example/?c=#uid#', 'has #uid#, which nobody fills: write {user_id}'],
    ['https://a.example/?c=%hash%', 'has %hash%, which nobody fills: write {signature}'],
    ['https://a.example/<event_type>/', 'has <event_type>, which nobody fills: write {event}'],
    ['https://a.example/?c={{nobody}}', 'macro that is none of {event}'],
    ['https://%7Bsite_key%7D.example/', 'macro outside'],
    ['https://a.example/{}', 'macro that is none of {event}'],
    ['https://user:hidden@a.example/', 'user name'],
    ['https://user@a.example/', 'user name'],
    ['https://@a.example/', 'user name'],
    ['ftp://a.example/', 'http'],
    ['file:///etc/passwd', 'http'],
    ['a.example/cb', 'http'],
    ['//a.example/cb', 'http'],
    ['', 'http'],
    ['https:///cb', 'host'],
    ['https://a.example:99999/', 'host'],
    ['https://1.2.3.4.5/', 'host'],
    ['https://a.example\\@b.example/', 'host'],
    ['https://a example/', 'blank'],
    ['https://a.example/a b', 'blank'],
    ['https://a.example/\u0000', 'control'],
    ['https://a.example/a\r\nX: y', 'control'],
  ])('%j is refused', (url, reason) => {
    expect(readPostbackAddress(url)).toEqual({ mistake: expect.stringContaining(reason) });
  });
});

it('that is wrong in sites.json is reported by site and never by its text', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sites-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sites.json');
  const site_secret = 'a-secret-of-more-than-16';
  for (const url of [
    'https://user:hidden@a.example/hidden',
    'https://{event}.example/hidden',
    'https://a.example/{hidden}',
    'ftp://hidden',
    'https://a.example/ hidden',
  ]) {
    writeFileSync(
      file,
      JSON.stringify({
        sites: [
          { site_key: 'one', site_secret },
          { site_key: 'two', site_secret, postback: { url } },
        ],
      }),
    );
    expect(() => readSites(file), url).toThrow('sites[1].postback.url');
    expect(() => readSites(file), url).not.toThrow(/hidden|a-secret/);
  }
});
