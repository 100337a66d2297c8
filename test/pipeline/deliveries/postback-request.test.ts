import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { Postback } from '../../../src/postbacks/rules/postback.ts';
import { postbackRequest } from '../../../src/postbacks/http/postback-request.ts';
import { signatureOf, signedText } from '../../../src/postbacks/http/signature.ts';
import { percentEncoded } from '../../../src/kit/text/percent-encoded.ts';
import { siteSchema } from '../../../src/kit/sites/sites.ts';

const secret = 'a-secret-of-more-than-16-ü';
const credit: Postback = {
  webhookId: 'wh_1',
  event: 'credit',
  siteKey: 'one',
  userId: 'user 1',
  clickId: 'click/1',
  reward: '0.5',
};
/** The public package refuses timestamps that are far from its own clock. */
const sentAt = Date.now();

function requestTo(
  url: string,
  method: 'GET' | 'POST' = 'GET',
  own: Partial<Postback> = {},
  previous?: string,
  until?: number,
) {
  const site = siteSchema.parse({
    site_key: 'one',
    site_secret: secret,
    previous_site_secret: previous,
    previous_secret_until: until === undefined ? undefined : new Date(until).toISOString(),
    postback: { url, method },
  });
  return postbackRequest(site, { ...credit, ...own }, sentAt);
}

/** Returns a receiver's verdict on a request, by this secret. */
function verify(key: string, content: string, headers: Record<string, string>): unknown {
  return new Webhook(Buffer.from(key), { format: 'raw' }).verify(content, headers, {
    jsonParse: content.startsWith('{'),
  });
}

const target = (url: string) => url.slice(url.indexOf('/', 8));
const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const postbacks = fc.record({
  webhookId: fc.constant('wh_1'),
  event: fc.constantFrom('credit' as const, 'reject' as const, 'chargeback' as const),
  siteKey: anyText,
  userId: anyText,
  clickId: fc.string({ minLength: 1, maxLength: 40 }),
  reward: fc.bigInt({ min: 0n, max: 10n ** 15n }).map(String),
});

describe('by GET', () => {
  it('sends of a long reason what an address has room for', () => {
    const reason = `bad\n${'🐸'.repeat(100_000)}`;
    const { url } = requestTo('https://a.example/?why={reason}', 'GET', { further: { reason } });
    expect(new URL(url).searchParams.get('why')).toBe(`bad ${'🐸'.repeat(496)}`);
  });

  it('appends the fields that no macro names, in their order', () => {
    const signature = signatureOf(secret, credit);
    expect(requestTo('https://a.example').url).toBe(
      `https://a.example/?event=credit&site_key=one&user_id=user%201&click_id=click%2F1&reward=0.5&signature=${signature}`,
    );
    expect(requestTo('https://a.example/cb/{click_id}?u={user_id}&fixed=1').url).toBe(
      `https://a.example/cb/click%2F1?u=user%201&fixed=1&event=credit&site_key=one&reward=0.5&signature=${signature}`,
    );
    expect(requestTo('https://a.example/cb?').url).toContain('/cb?event=credit');
    expect(requestTo('https://a.example/cb?a=1&').url).toContain('/cb?a=1&event=credit');
    expect(requestTo('https://a.example/cb?a={event}{site_key}{user_id}{click_id}{reward}{signature}').url).toBe(
      `https://a.example/cb?a=creditoneuser%201click%2F10.5${signature}`,
    );
  });

  it('puts a value that reads like a macro in as a value', () => {
    expect(
      requestTo('https://a.example/{user_id}/{click_id}', 'GET', { userId: '{click_id}', clickId: '{signature}' }).url,
    ).toContain('/%7Bclick_id%7D/%7Bsignature%7D?');
  });

  it('leaves dots in a value where they stand', () => {
    expect(requestTo('https://a.example/cb/{user_id}/done', 'GET', { userId: '..' }).url).toContain(
      'https://a.example/cb/../done?',
    );
  });

  it('signs path and query in place of a body, with the current secret alone', () => {
    const { url, headers } = requestTo('https://a.example/cb?u={user_id}', 'GET', {}, 'the-secret-before-this-one');
    expect(() => verify(secret, target(url), headers)).not.toThrow();
    expect(() => verify(secret, target(url).replace('0.5', '9.5'), headers)).toThrow();
    expect(() => verify('the-secret-before-this-one', target(url), headers)).toThrow();
  });

  it('carries every value back whole, whatever it holds', () => {
    fc.assert(
      fc.property(postbacks, (postback) => {
        const { url } = requestTo('https://a.example/cb?who={user_id}', 'GET', postback);
        const query = new URL(url).searchParams;
        expect(Object.fromEntries(query)).toEqual({
          who: postback.userId.toWellFormed(),
          event: postback.event,
          site_key: postback.siteKey.toWellFormed(),
          click_id: postback.clickId,
          reward: postback.reward,
          signature: signatureOf(secret, postback),
        });
        expect(url).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });
});

describe('by POST', () => {
  it('sends the six fields as JSON, which the public package for Standard Webhooks verifies', () => {
    const { url, body = '', headers } = requestTo('https://a.example/cb', 'POST');
    expect(url).toBe('https://a.example/cb');
    expect(headers['content-type']).toBe('application/json');
    expect(verify(secret, body, headers)).toEqual({
      event: 'credit',
      site_key: 'one',
      user_id: 'user 1',
      click_id: 'click/1',
      reward: 0.5,
      signature: signatureOf(secret, credit),
    });
    expect(() => verify(secret, body.replace('0.5', '9.5'), headers)).toThrow();
    expect(() => verify('another-secret', body, headers)).toThrow();
  });

  it('keeps all digits of a reward', () => {
    expect(requestTo('https://a.example/cb', 'POST', { reward: '123456789012345.6789' }).body).toContain(
      '"reward":123456789012345.6789,',
    );
  });

  it('while a secret is replaced, verifies with either one and is signed with the current one first', () => {
    const previous = 'the-secret-before-this-one';
    const { body = '', headers } = requestTo('https://a.example/cb', 'POST', {}, previous);
    expect(() => verify(secret, body, headers)).not.toThrow();
    expect(() => verify(previous, body, headers)).not.toThrow();
    const [first = '', second = ''] = (headers['webhook-signature'] ?? '').split(' ');
    expect(() => verify(secret, body, { ...headers, 'webhook-signature': first })).not.toThrow();
    expect(() => verify(previous, body, { ...headers, 'webhook-signature': second })).not.toThrow();
    expect(JSON.parse(body)).toMatchObject({ signature: signatureOf(secret, credit) });
    const signatures = (until: number) =>
      requestTo('https://a.example/cb', 'POST', {}, previous, until).headers['webhook-signature']?.split(' ').length;
    expect([signatures(sentAt + 1), signatures(sentAt)]).toEqual([2, 1]);
  });

  it('puts values into the address where a macro asks for them', () => {
    expect(requestTo('https://a.example/cb/{click_id}?u={user_id}', 'POST').url).toBe(
      'https://a.example/cb/click%2F1?u=user%201',
    );
  });
});

describe('the signed text', () => {
  it('encodes to what decodes to the same, bare where RFC 3986 has unreserved characters only', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(decodeURIComponent(percentEncoded(text))).toBe(text.toWellFormed());
        expect(percentEncoded(text)).toMatch(/^([A-Za-z0-9\-._~]|%[0-9A-F]{2})*$/);
      }),
    );
  });

  it('is another for every other postback', () => {
    fc.assert(
      fc.property(postbacks, postbacks, (one, other) => {
        const [a, b] = [one, other].map(({ event, siteKey, userId, clickId, reward }) =>
          JSON.stringify([event, siteKey, userId, clickId, reward]),
        );
        expect(signedText(one) === signedText(other)).toBe(a === b);
      }),
    );
    expect(signedText({ ...credit, clickId: 'a&event=reject' })).not.toBe(
      signedText({ ...credit, clickId: 'a', event: 'reject' }),
    );
  });

  it('names its fields in the order of the alphabet', () => {
    fc.assert(
      fc.property(postbacks, (postback) => {
        expect(
          signedText(postback)
            .split('&')
            .map((part) => part.split('=')[0]),
        ).toEqual(['click_id', 'event', 'reward', 'site_key', 'user_id']);
      }),
    );
  });
});

describe('what a site asks for beside the signed fields', () => {
  const further = {
    conversion_id: 'v 1',
    offer_id: '7',
    event_id: 'level"5"',
    sub1: 'a&b',
    reason: 'fraud',
    payout: '0.2500',
  };
  const fields = {
    txn: 'conversion_id',
    oid: 'offer_id',
    usd: 'payout',
    s2: 'sub2',
    why: 'reason',
    who: 'user_id',
    st: 'status',
  };
  const request = (method: 'GET' | 'POST', url: string, own: Partial<Postback> = { further }) =>
    postbackRequest(
      siteSchema.parse({ site_key: 'one', site_secret: secret, postback: { url, method, fields } }),
      { ...credit, event: 'chargeback', ...own },
      sentAt,
    );
  const signature = signatureOf(secret, { ...credit, event: 'chargeback' });

  it('stands in the address, and behind the signed fields by its own names', () => {
    const { url, headers } = request('GET', 'https://a.example/{sub1}?e={event_id}&s={status}&x={sub2}');
    expect(url).toBe(
      'https://a.example/a%26b?e=level%225%22&s=charged_back&x=' +
        `&event=chargeback&site_key=one&user_id=user%201&click_id=click%2F1&reward=0.5&signature=${signature}` +
        '&txn=v%201&oid=7&usd=0.2500&s2=&why=fraud&who=user%201&st=charged_back',
    );
    expect(() => verify(secret, target(url), headers)).not.toThrow();
  });

  it('is in a body beside the signed fields, null where it is not known, and `webhook-signature` covers it', () => {
    const { url, body = '', headers } = request('POST', 'https://a.example/{sub1}');
    expect(url).toBe('https://a.example/a%26b');
    expect(body).toContain('"usd":0.2500,"s2":null');
    expect(JSON.parse(body)).toEqual({
      event: 'chargeback',
      site_key: 'one',
      user_id: 'user 1',
      click_id: 'click/1',
      reward: 0.5,
      signature,
      txn: 'v 1',
      oid: 7,
      usd: 0.25,
      s2: null,
      why: 'fraud',
      who: 'user 1',
      st: 'charged_back',
    });
    expect(() => verify(secret, body, headers)).not.toThrow();
    // One that was written before any of it was kept.
    expect(JSON.parse(request('POST', 'https://a.example/', {}).body ?? '')).toMatchObject({ txn: null, oid: null });
  });

  it.each([
    [{ reward: 'payout' }, /signed field/],
    [{ 'a b': 'payout' }, /must be a letter/],
    [{ __proto__x: 'amount' }, /fields/],
    [Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`n${index}`, 'sub1'])), /more than 20/],
  ])('%j is refused', (own, mistake) => {
    const read = siteSchema.safeParse({
      site_key: 'one',
      site_secret: secret,
      postback: { url: 'https://a.example', fields: own },
    });
    expect(JSON.stringify(read.error?.issues)).toMatch(mistake);
  });
});
