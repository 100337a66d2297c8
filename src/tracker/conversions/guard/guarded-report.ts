import { hash } from 'node:crypto';
import {
  postbackParametersOf,
  type PostbackSecrets,
  type PostbackSettings,
} from '../../../sources/config/postback-settings.ts';
import type { ReportedField } from '../../../sources/config/report-fields.ts';
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
 * Writes fields under a source's own names and in its words; a field that it does not send has no name. `own`: values
 * of its own parameters, which come in place of a field of that name.
 */
export function reportParameters(
  settings: PostbackSettings,
  fields: Partial<Record<ReportedField, string>>,
  own: Readonly<Record<string, string>> = {},
): [name: string, value: string][] {
  const values = new Map<string, string>();
  for (const [field, value] of Object.entries(fields) as [ReportedField, string][]) {
    const [name] = postbackParametersOf(settings, field);
    if (name !== undefined && !values.has(name)) values.set(name, theirWord(settings, field, value));
  }
  return [...new Map([...values, ...Object.entries(own)])];
}

/**
 * Makes a report as a source would send it, by its `reportParameters` and with its token or signature: for trials and
 * demos. `now` in milliseconds since the epoch.
 */
export function guardedReport(
  source: string,
  settings: PostbackSettings,
  { tokens: [token], keys: [key = ''] }: PostbackSecrets,
  parameters: readonly (readonly [name: string, value: string])[],
  now: number,
): GuardedReport {
  const pairs = [...parameters];
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

/** Returns the source's own word, where it has one for a word of ours. */
function theirWord({ fields }: PostbackSettings, field: ReportedField, value: string): string {
  const words = Object.entries(fields?.fields[field]?.words ?? {});
  return words.find(([theirs, ours]) => ours === value && theirs !== '*' && theirs !== '')?.[0] ?? value;
}
