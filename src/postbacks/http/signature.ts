import { createHmac } from 'node:crypto';
import type { Postback } from '../rules/postback.ts';

/**
 * The `signature` of a postback: HMAC-SHA256 in lower-case hex, keyed by the UTF-8 bytes of the site's secret,
 * over `signedText`.
 */
export function signatureOf(secret: string, postback: Postback): string {
  return createHmac('sha256', secret).update(signedText(postback)).digest('hex');
}

/** The signed fields in the alphabetical order of their names. A value's own `&` and `=` are encoded, so no two postbacks share a text. */
export function signedText({ clickId, event, reward, siteKey, userId }: Omit<Postback, 'webhookId'>): string {
  const fields = { click_id: clickId, event, reward, site_key: siteKey, user_id: userId };
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${percentEncoded(value)}`)
    .join('&');
}

/** By RFC 3986: unreserved characters bare, every other byte of the UTF-8 text as `%` and two upper-case digits. */
export function percentEncoded(text: string): string {
  // encodeURIComponent leaves these five bare, and throws on half a surrogate pair.
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
