import { createHmac } from 'node:crypto';

/**
 * The headers of the Standard Webhooks specification, over the exact bytes that are sent. `secrets` are used as the UTF-8
 * bytes of their text; the receiver may hold any of them, which is how a secret is replaced without a gap.
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
