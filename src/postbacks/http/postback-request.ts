import {
  furtherValues,
  postbackFields,
  readPostbackAddress,
  type PostbackAddress,
  type PostbackField,
  type PostbackMacro,
} from '../../kit/sites/postback-address.ts';
import { previousSecret } from '../../kit/sites/rotate-secret.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { ConversionKind } from '../../kit/vocabulary/values.ts';
import type { Postback } from '../rules/postback.ts';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { reasonText } from '../../kit/text/reason-text.ts';
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
  const { method, fields = {} } = site.postback;
  const address = addressOf(site.postback);
  const signature = signatureOf(site.site_secret, postback);
  const values: Values = {
    ...withoutFurther,
    ...postback.further,
    // Logs have reasons of any length, which no receiver takes in an address.
    reason: reasonText(postback.further?.reason) ?? '',
    status: statuses[postback.event],
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
    const whole = appended(target, [
      ...postbackFields.filter((field) => !named(address, field)).map((field) => [field, values[field]] as const),
      ...Object.entries(fields).map(([name, value]) => [name, values[value]] as const),
    ]);
    // A request without a body has nothing else to sign; the older secret is for bodies only.
    return {
      method,
      url: address.origin + whole,
      headers: { ...commonHeaders, ...webhookHeaders([site.site_secret], postback.webhookId, sentAt, whole) },
    };
  }
  const body = bodyOf(values, fields);
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

type Values = Record<PostbackMacro, string>;

const withoutFurther = Object.fromEntries(Object.keys(furtherValues).map((name) => [name, ''])) as Values;
const numbers: ReadonlySet<PostbackMacro> = new Set(['reward', 'payout', 'offer_id']);
const statuses: Record<ConversionKind, string> = {
  pending: 'pending',
  credit: 'credited',
  reject: 'rejected',
  chargeback: 'charged_back',
};

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

function appended(target: string, parameters: (readonly [name: string, value: string])[]): string {
  const text = parameters.map(([name, value]) => `${name}=${percentEncoded(value)}`).join('&');
  if (text === '' || /[?&]$/.test(target)) return target + text;
  return `${target}${target.includes('?') ? '&' : '?'}${text}`;
}

/**
 * Rewards and payouts are JSON numbers whose digits are those that were frozen: they never pass through binary floating
 * point. What is not known is null.
 */
function bodyOf(values: Values, fields: Readonly<Record<string, PostbackMacro>>): string {
  const members = [...postbackFields.map((field) => [field, field] as const), ...Object.entries(fields)];
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${memberOf(value, values[value])}`).join(',')}}`;
}

function memberOf(name: PostbackMacro, value: string): string {
  if (numbers.has(name) && value !== '') return value;
  return value === '' && name in furtherValues ? 'null' : JSON.stringify(value);
}
