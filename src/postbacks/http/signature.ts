import { createHmac } from 'node:crypto';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import type { Postback } from '../rules/postback.ts';

/**
 * The `signature` of a postback: HMAC-SHA256 in lower-case hex, keyed by the UTF-8 bytes of the site's secret,
 * over `signedText`.
 */
export function signatureOf(secret: string, postback: Postback): string {
  return createHmac('sha256', secret).update(signedText(postback)).digest('hex');
}

/**
 * The signed fields in the alphabetical order of their names. A value's own `&` and `=` are encoded, so no two
 * postbacks share a text.
 */
export function signedText({ clickId, event, reward, siteKey, userId }: Omit<Postback, 'webhookId'>): string {
  const fields = { click_id: clickId, event, reward, site_key: siteKey, user_id: userId };
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${percentEncoded(value)}`)
    .join('&');
}

/**
 * The headers of the Standard Webhooks specification, over the exact bytes that are sent. `secrets` are used as the
 * UTF-8 bytes of their text; the receiver may hold any of them, which is how a secret is replaced without a gap.
 */
export function webhookHeaders(secrets: string[], id: string, sentAt: number, content: string): Record<string, string> {
  const timestamp = Math.floor(sentAt / 1000);
  const signed = `${id}.${timestamp}.${content}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets
      .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
      .join(' '),
  };
}
