import {
  postbackFields,
  readPostbackAddress,
  type PostbackAddress,
  type PostbackField,
} from '../../kit/sites/postback-address.ts';
import { previousSecret } from '../../kit/sites/rotate-secret.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { Postback } from '../rules/postback.ts';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { signatureOf, webhookHeaders } from './signature.ts';

/** Request as it goes out. */
export interface PostbackRequest {
  method: 'GET' | 'POST';
  /**
   * Origin, path and query, to be sent as they stand. Holds a signature and what the publisher wrote: never to be
   * logged.
   */
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/**
 * A postback as the site wants it now: address, method and secrets are the current ones.
 * `sentAt` is in milliseconds since the epoch. Throws where the site has no postback address.
 */
export function postbackRequest(site: Site, postback: Postback, sentAt: number): PostbackRequest {
  if (site.postback === undefined) throw new Error(`site ${site.site_key} has no postback address`);
  const { method } = site.postback;
  const address = addressOf(site.postback);
  const signature = signatureOf(site.site_secret, postback);
  const values: Record<PostbackField, string> = {
    event: postback.event,
    site_key: postback.siteKey,
    user_id: postback.userId,
    click_id: postback.clickId,
    reward: postback.reward,
    signature,
  };
  const target = address.target
    .map((part) => (typeof part === 'string' ? part : percentEncoded(values[part.macro])))
    .join('');
  if (method === 'GET') {
    const whole = appended(
      target,
      postbackFields.filter((field) => !named(address, field)),
      values,
    );
    // A request without a body has nothing else to sign; the older secret is for bodies only.
    return {
      method,
      url: address.origin + whole,
      headers: { ...commonHeaders, ...webhookHeaders([site.site_secret], postback.webhookId, sentAt, whole) },
    };
  }
  const body = bodyOf(values);
  const previous = previousSecret(site, sentAt, 'signs');
  const secrets = previous === undefined ? [site.site_secret] : [site.site_secret, previous];
  return {
    method,
    url: address.origin + target,
    headers: {
      ...commonHeaders,
      'content-type': 'application/json',
      ...webhookHeaders(secrets, postback.webhookId, sentAt, body),
    },
    body,
  };
}

/** Some receivers turn away requests that do not say who they are. */
const commonHeaders = { 'user-agent': 'offerline', accept: '*/*' };

/** Kept per object that `sites.json` was read into: many thousand postbacks go to one address. */
const addresses = new WeakMap<NonNullable<Site['postback']>, PostbackAddress>();

function addressOf(postback: NonNullable<Site['postback']>): PostbackAddress {
  const known = addresses.get(postback);
  if (known !== undefined) return known;
  const address = readPostbackAddress(postback.url);
  if ('mistake' in address) throw new Error(`the postback address ${address.mistake}`);
  addresses.set(postback, address);
  return address;
}

function named(address: PostbackAddress, field: PostbackField): boolean {
  return address.target.some((part) => typeof part === 'object' && part.macro === field);
}

function appended(target: string, fields: PostbackField[], values: Record<PostbackField, string>): string {
  const parameters = fields.map((field) => `${field}=${percentEncoded(values[field])}`).join('&');
  if (parameters === '' || /[?&]$/.test(target)) return target + parameters;
  return `${target}${target.includes('?') ? '&' : '?'}${parameters}`;
}

/**
 * The reward is a JSON number whose digits are those that were signed: it never passes through binary floating point.
 */
function bodyOf(values: Record<PostbackField, string>): string {
  const members = postbackFields.map(
    (field) => `${JSON.stringify(field)}:${field === 'reward' ? values.reward : JSON.stringify(values[field])}`,
  );
  return `{${members.join(',')}}`;
}
