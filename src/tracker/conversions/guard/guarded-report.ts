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
  const pairs = Object.entries(fields).flatMap(([field, value]): [string, string][] => {
    // A field that the source does not send has no name.
    const [name] = postbackParametersOf(settings, field as ReportedField);
    return name === undefined ? [] : [[name, theirWord(settings, field as ReportedField, value)]];
  });
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
