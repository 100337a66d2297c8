import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { postbackSchema } from '../../../../src/sources/config/postback-settings.ts';
import type { ConversionRequest } from '../../../../src/tracker/conversions/guard/conversion-request.ts';
import { SentParameters } from '../../../../src/tracker/conversions/guard/sent-parameters.ts';
import { SourceGuard } from '../../../../src/tracker/conversions/guard/source-guard.ts';

const now = Date.parse('2025-11-18T10:00:00Z');
const seconds = now / 1000;
const secret = 'a-secret-of-16-or-more';

function letsPass(postback: object, request: Partial<ConversionRequest>, at = now, environment = {}): boolean {
  const guard = new SourceGuard('north', postbackSchema.parse(postback), environment);
  const whole = {
    source: 'north',
    method: 'GET' as const,
    query: '',
    headers: {},
    body: Buffer.alloc(0),
    address: '198.51.100.7',
    ...request,
  };
  return guard.letsPass(whole, SentParameters.of(whole), at);
}

describe('a token', () => {
  const postback = { token: [secret, { env: 'NEXT' }], token_parameter: 'key' };
  const environment = { NEXT: 'the-secret-that-is-to-come' };

  it.each([
    [{ query: `key=${secret}` }, true],
    [{ query: 'key=the-secret-that-is-to-come' }, true],
    [{ headers: { authorization: `Bearer ${secret}` } }, true],
    [{ headers: { authorization: `bearer  ${secret}` } }, true],
    [
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.from(`{"key":"${secret}"}`) },
      true,
    ],
    [{ query: `token=${secret}` }, false],
    [{ query: 'key=' }, false],
    [{ query: `key=${secret.slice(0, -1)}` }, false],
    [{ query: `key=${secret}x` }, false],
    [{ headers: { authorization: `Basic ${secret}` } }, false],
    // The header counts.
    [{ query: `key=${secret}`, headers: { authorization: 'Bearer wrong' } }, false],
  ] as [Partial<ConversionRequest>, boolean][])('of %j passes: %s', (request, passes) => {
    expect(letsPass(postback, request, now, environment)).toBe(passes);
  });
});

describe('an address', () => {
  const allow = ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32'];

  it.each([
    ['203.0.113.255', true],
    ['203.0.114.1', false],
    ['198.51.100.7', true],
    ['198.51.100.8', false],
    ['::ffff:203.0.113.9', true],
    ['2001:db8:1::1', true],
    ['2001:db9::1', false],
    ['unknown', false],
  ])('%s passes: %s', (address, passes) => {
    expect(letsPass({ allow }, { address })).toBe(passes);
  });

  it('is looked at beside the token', () => {
    const query = `token=${secret}`;
    expect(letsPass({ allow, token: secret }, { query })).toBe(true);
    expect(letsPass({ allow, token: secret }, {})).toBe(false);
    expect(letsPass({ allow, token: secret }, { query, address: '192.0.2.1' })).toBe(false);
  });
});

describe('a signature of our own', () => {
  const postback = { signature: { scheme: 'offerline', secret: ['another-secret-that-comes', secret] } };
  // By openssl, over `event_id=&name=Gr%C3%BC%C3%9Fe%20%26%20%27~%27&timestamp=1763460000`.
  const signature = '10deea7193a240c7dc3f8cb8b6d29f5a172dd1704ec8aa0997f943753e53153b';
  const query = `timestamp=${seconds}&name=Gr%C3%BC%C3%9Fe+%26+'~'&event_id=&signature=${signature}`;

  it('covers all parameters by their names, for five minutes either way', () => {
    expect(letsPass(postback, { query })).toBe(true);
    expect(letsPass(postback, { query }, now + 300_000)).toBe(true);
    expect(letsPass(postback, { query }, now - 300_000)).toBe(true);
    expect(letsPass(postback, { query }, now + 300_001)).toBe(false);
    expect(letsPass(postback, { query }, now - 300_001)).toBe(false);
  });

  it.each([
    query.replace("'~'", '~'),
    `${query}&payout=1`,
    `${query}&name=x`,
    query.replace('&event_id=', ''),
    query.replace(`timestamp=${seconds}`, `timestamp=${seconds + 1}`),
    query.replace(signature, ''),
    query.replace(signature, signature.toUpperCase()),
  ])('does not fit %s', (changed) => {
    expect(letsPass(postback, { query: changed })).toBe(false);
  });

  it('is not replaced by one of the other secret’s owner without a time', () => {
    expect(letsPass({ signature: { scheme: 'offerline', secret: 'yet-another-of-nobody' } }, { query })).toBe(false);
  });
});

describe('a signature of Standard Webhooks', () => {
  const key = Buffer.from('bytes of a key, not text: \u00ff', 'latin1');
  const whsec = `whsec_${key.toString('base64')}`;
  const signed = (webhook: Webhook, content: string, at = now) => ({
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': webhook.sign('msg_1', new Date(at), content),
  });
  const content = '{"click_id":"c","payout":1.10}';
  const body = Buffer.from(content);

  it.each([
    ['a key as libraries write it', whsec, new Webhook(whsec)],
    ['a key that is text', secret, new Webhook(Buffer.from(secret).toString('base64'))],
  ])('by the library, with %s', (_what, mine, webhook) => {
    const postback = { signature: { scheme: 'standard_webhooks', secret: mine } };
    const headers = signed(webhook, content);
    expect(letsPass(postback, { method: 'POST', headers, body })).toBe(true);
    expect(
      letsPass(postback, {
        method: 'POST',
        headers: { ...headers, 'webhook-signature': `v1a,x v1,AAAA ${headers['webhook-signature']}` },
        body,
      }),
    ).toBe(true);
    expect(letsPass(postback, { method: 'POST', headers, body: Buffer.from(`${content} `) })).toBe(false);
    expect(letsPass(postback, { method: 'POST', headers: { ...headers, 'webhook-id': 'msg_2' }, body })).toBe(false);
    expect(letsPass(postback, { method: 'POST', headers, body }, now + 301_000)).toBe(false);
    const svix = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
    );
    expect(letsPass(postback, { method: 'POST', headers: svix, body })).toBe(true);
    const query = 'click_id=c&payout=1';
    const get = signed(webhook, `/postback/north?${query}`);
    expect(letsPass(postback, { query, headers: get })).toBe(true);
    expect(letsPass(postback, { query: `${query}0`, headers: get })).toBe(false);
  });
});

describe('a signature of ayeT', () => {
  const postback = { signature: { scheme: 'ayet', secret: 'the-api-key-of-ayet' } };
  const query = 'payout=2.50&sub1=a%20b~c/d%26&click_id=abc';
  // By openssl, over `click_id=abc&payout=2.50&sub1=a+b%7Ec%2Fd%26`.
  const header = '28fed402fdb70d3a153a06946e65242f34268b65cd749365c8a9edb01f22fbe4';

  it('is in a header', () => {
    expect(letsPass(postback, { query, headers: { 'x-ayetstudios-security-hash': header } })).toBe(true);
    expect(
      letsPass(postback, { query: query.replace('2.50', '2.5'), headers: { 'x-ayetstudios-security-hash': header } }),
    ).toBe(false);
    expect(letsPass(postback, { query })).toBe(false);
  });
});

describe('an MD5 of a template', () => {
  const template = '{secret}.{user_id}.{value:whole}.{token}';
  const postback = { signature: { scheme: 'md5', secret: 'fa072672-d432-11c4-885a-EB1CdEc4Bb13', template } };
  // By md5sum, over what PubScale's page has as its final format.
  const query =
    'user_id=30356439-8d15-4f47-B133-010a37C19eBD&value=100.1234&token=525a5B8e-512b-441A-a10B-72d218c370e5&signature=918809ac0e5fcc1960c8875d9e9c8e80';

  it('is that of the values as they were sent', () => {
    expect(letsPass(postback, { query })).toBe(true);
    expect(letsPass(postback, { query: query.replace('918809ac', '918809AC') })).toBe(true);
    expect(letsPass(postback, { query: query.replace('value=100', 'value=101') })).toBe(false);
    expect(letsPass(postback, { query: query.replace('010a37C19eBD', '{secret}') })).toBe(false);
  });
});

it('a secret that can be guessed draws a warning that does not contain it', () => {
  const { warnings } = new SourceGuard('north', postbackSchema.parse({ token: 'hunter2' }));
  expect(warnings).toEqual([expect.stringContaining('north: a secret of its postback has fewer than 16 characters')]);
  expect(warnings.join()).not.toContain('hunter2');
});
