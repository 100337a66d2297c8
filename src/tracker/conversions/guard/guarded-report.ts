import { hash } from 'node:crypto';
import type { PostbackSecrets, PostbackSettings, ReportedField } from '../../../sources/config/postback-settings.ts';
import { percentEncoded } from '../../../kit/text/percent-encoded.ts';
import { SentParameters } from './sent-parameters.ts';
import { ayetText, filledTemplate, hmacHex, ownText, webhookSignature } from './signatures.ts';

/** A report as its source would send it, by GET. */
export interface GuardedReport {
  /** Path and query. Holds a signature: never to be logged. */
  target: string;
  headers: Record<string, string>;
}

/**
 * Makes a report as a source would send it, under its own names and with its token or signature: for trials and demos.
 * `now` in milliseconds since the epoch.
 */
export function guardedReport(
  source: string,
  settings: PostbackSettings,
  { tokens: [token], keys: [key = ''] }: PostbackSecrets,
  fields: Partial<Record<ReportedField, string>>,
  now: number,
): GuardedReport {
  const pairs = Object.entries(fields).map(([field, value]): [string, string] => [
    settings.parameters[field as ReportedField] ?? field,
    value,
  ]);
  const headers: Record<string, string> = {};
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  const seconds = String(Math.floor(now / 1000));
  const { signature } = settings;
  if (signature?.scheme === 'offerline') {
    pairs.push(['timestamp', seconds]);
    pairs.push([signature.parameter, hmacHex(key, ownText(new SentParameters(pairs), signature.parameter))]);
  } else if (signature?.scheme === 'md5') {
    const text = filledTemplate(signature.template, new SentParameters(pairs), key);
    pairs.push([signature.parameter, hash('md5', text, 'hex')]);
  } else if (signature?.scheme === 'ayet')
    headers[signature.header] = hmacHex(key, ayetText(new SentParameters(pairs)));
  const query = pairs.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`).join('&');
  const target = `/postback/${encodeURIComponent(source)}?${query}`;
  if (signature?.scheme === 'standard_webhooks') {
    const id = hash('sha256', `${seconds} ${target}`, 'hex').slice(0, 32);
    headers['webhook-id'] = id;
    headers['webhook-timestamp'] = seconds;
    headers['webhook-signature'] = webhookSignature(key, id, seconds, target);
  }
  return { target, headers };
}
