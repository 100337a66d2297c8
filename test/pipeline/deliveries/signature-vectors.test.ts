import { readFileSync } from 'node:fs';
import type { ConversionKind } from '../../../src/kit/vocabulary/values.ts';
import { describe, expect, it } from 'vitest';
import { moneyText, parseMoney } from '../../../src/kit/text/decimal-text.ts';
import type { Postback } from '../../../src/postbacks/rules/postback.ts';
import { postbackRequest } from '../../../src/postbacks/http/postback-request.ts';
import { signatureOf, signedText } from '../../../src/postbacks/http/signature.ts';
import { siteSchema } from '../../../src/kit/sites/sites.ts';

interface Vector {
  what: string;
  secret: string;
  fields: { event: ConversionKind; site_key: string; user_id: string; click_id: string; reward: string };
  /** Value of a column of money, where that is not the shortest form. */
  amount?: string;
  signed: string;
  signature: string;
  get?: { address: string; url: string; headers: Record<string, string> };
  post?: { address: string; previous_secret?: string; body: string; headers: Record<string, string> };
}

/** Made by another program than ours, from the description that publishers have. */
const vectors = JSON.parse(
  readFileSync(new URL('../../vectors/postback-signatures.json', import.meta.url), 'utf8'),
) as Vector[];

function postbackOf({ event, site_key, user_id, click_id, reward }: Vector['fields'], webhookId = ''): Postback {
  return { webhookId, event, siteKey: site_key, userId: user_id, clickId: click_id, reward };
}

function requestOf(
  vector: Vector,
  method: 'GET' | 'POST',
  { address, headers, previous }: { address: string; headers: Record<string, string>; previous?: string | undefined },
) {
  const site = siteSchema.parse({
    site_key: vector.fields.site_key,
    site_secret: vector.secret,
    previous_site_secret: previous,
    postback: { url: address, method },
  });
  const sentAt = Number(headers['webhook-timestamp']) * 1000 + 999;
  return postbackRequest(site, postbackOf(vector.fields, headers['webhook-id']), sentAt);
}

describe('the published vectors', () => {
  it.each(vectors)('$what', (vector) => {
    expect(signedText(postbackOf(vector.fields))).toBe(vector.signed);
    expect(signatureOf(vector.secret, postbackOf(vector.fields))).toBe(vector.signature);
  });

  it.each(vectors.filter(({ get }) => get !== undefined))('by GET: $what', (vector) => {
    const get = vector.get as NonNullable<Vector['get']>;
    const request = requestOf(vector, 'GET', get);
    expect(request).toMatchObject({ method: 'GET', url: get.url, headers: get.headers });
    expect(request).not.toHaveProperty('body');
  });

  it.each(vectors.filter(({ post }) => post !== undefined))('by POST: $what', (vector) => {
    const post = vector.post as NonNullable<Vector['post']>;
    expect(requestOf(vector, 'POST', { ...post, previous: post.previous_secret })).toMatchObject({
      method: 'POST',
      url: post.address,
      headers: post.headers,
      body: post.body,
    });
  });

  it('state rewards in the form that money is written in', () => {
    const amounts = vectors.filter(({ amount }) => amount !== undefined);
    expect(amounts.length).toBeGreaterThan(2);
    for (const { amount = '', fields } of amounts) expect(moneyText(parseMoney(amount) ?? -1n)).toBe(fields.reward);
  });
});
