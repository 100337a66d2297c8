import type { SourceEntry } from './config/sources-file.ts';
import { readSecret, Redactor } from '../kit/config/secrets.ts';
import type { CanonicalRecord, Connector } from './connectors/connector.ts';
import type { NetworkConversion } from './connectors/network-conversion.ts';
import { connectors } from './connectors/connectors.ts';
import { streamSchema, type Stream } from './connectors/declaration.ts';
import { declaredOffer } from './connectors/declared.ts';
import type { NetworkRecord } from './records/record-fields.ts';
import type { TemplateValues } from './http/request-template.ts';

/** A source that is ready for requests: its secrets are read and its declaration is complete. */
export interface ResolvedSource {
  name: string;
  baseUrl: string;
  secrets: TemplateValues;
  /** Distinguishes accounts of one host, for budgets. */
  account: string;
  redactor: Redactor;
  onToken: (token: string) => void;
  offers: { stream: Stream; isFull: boolean; toCanonical: (record: NetworkRecord) => CanonicalRecord } | undefined;
  conversions:
    | { stream: Stream; windowDays: number; toConversion: (record: NetworkRecord) => NetworkConversion | undefined }
    | undefined;
}

/** Returns undefined for a source without a connector. Throws `UsageError` where a secret cannot be read. */
export function resolveSource(entry: SourceEntry): ResolvedSource | undefined {
  const connector = entry.connector === undefined ? undefined : connectors[entry.connector];
  if (connector === undefined) return undefined;
  const secrets = Object.fromEntries(
    Object.entries(entry.secrets).map(([name, secret]) => [
      name,
      readSecret(`sources.json: ${entry.source}.secrets.${name}`, secret),
    ]),
  );
  const redactor = new Redactor(Object.values(secrets));
  return {
    name: entry.source,
    baseUrl: entry.base_url ?? connector.baseUrl ?? '',
    secrets,
    account: connector.secrets.map((name) => secrets[name] ?? '').join(' '),
    redactor,
    onToken: (token) => redactor.add(token),
    offers: entry.pull.includes('offers') ? offersOf(entry) : undefined,
    conversions: entry.pull.includes('conversions') ? conversionsOf(connector) : undefined,
  };
}

function conversionsOf({ conversions }: Connector): ResolvedSource['conversions'] {
  if (conversions === undefined) return undefined;
  const { windowDays, toConversion, ...declaration } = conversions;
  return { stream: streamSchema.parse(declaration), windowDays, toConversion };
}

function offersOf(entry: SourceEntry): ResolvedSource['offers'] {
  const settings = { currency: entry.currency, keepNonIncentive: entry.keep.includes('non_incentive') };
  if (entry.offers !== undefined) {
    const { fields, full, ...stream } = entry.offers;
    return { stream, isFull: full, toCanonical: (record) => declaredOffer(record, fields, settings) };
  }
  const offers = entry.connector === undefined ? undefined : connectors[entry.connector]?.offers;
  if (offers === undefined) return undefined;
  const { isFull, toCanonical, ...declaration } = offers;
  return {
    stream: streamSchema.parse(declaration),
    isFull,
    toCanonical: (record) => toCanonical(record, settings),
  };
}
