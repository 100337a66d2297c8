import type { SourceEntry } from './config/sources-file.ts';
import { readSecret, Redactor } from '../kit/config/secrets.ts';
import { rowFilter } from '../kit/intake/mapping/rows.ts';
import type { LinksDeclaration } from './config/declared-lists.ts';
import type { CampaignRequest, CanonicalRecord, ToConversion } from './connectors/connector.ts';
import { connectorNamed } from './connectors/connectors.ts';
import { hasPlaceholder, streamSchema, type Stream } from './connectors/declaration.ts';
import { declaredConversion } from './connectors/declared-conversion.ts';
import { declaredOffer, hasField, idPlaces } from './connectors/declared.ts';
import { canonicalOffer } from './records/canonical-offer.ts';
import { withClickId, type ClickIdPlace } from './records/click-link.ts';
import type { NetworkRecord } from './records/record-fields.ts';
import { conversionWithoutSecrets, isKey, offerWithoutSecrets } from './records/without-secrets.ts';
import { basicText, type TemplateValues } from './http/request-template.ts';
import { isoDate, type DateFormat } from './http/window-days.ts';

/** A source that is ready for requests: its secrets are read and its declaration is complete. */
export interface ResolvedSource {
  name: string;
  baseUrl: string;
  secrets: TemplateValues;
  /** Distinguishes accounts of one host, for budgets. */
  account: string;
  redactor: Redactor;
  onToken: (token: string) => void;
  offers:
    | {
        stream: Stream;
        isFull: boolean;
        campaigns?: CampaignRequest;
        /** `link`: the one of its campaign, where the list has none. */
        toCanonical: (record: NetworkRecord, link?: string) => CanonicalRecord;
        /** Places of a record's id, where `sources.json` says them. */
        idAt?: readonly string[] | undefined;
      }
    | undefined;
  conversions:
    | {
        stream: Stream;
        windowDays: number;
        dateFormat: DateFormat;
        /** Corrections are records of their own, which are added to what they correct. */
        hasCorrections: boolean;
        toConversion: ToConversion;
        idAt?: readonly string[] | undefined;
        /** `sources.json` says how the list is read. */
        isDeclared: boolean;
      }
    | undefined;
}

/** Returns undefined for a source without a connector. Throws `UsageError` where a secret cannot be read. */
export function resolveSource(entry: SourceEntry): ResolvedSource | undefined {
  const connector = connectorNamed(entry.connector);
  if (connector === undefined) return undefined;
  const secrets = Object.fromEntries(
    Object.entries(entry.secrets).map(([name, secret]) => [
      name,
      readSecret(`sources.json: ${entry.source}.secrets.${name}`, secret),
    ]),
  );
  const redactor = new Redactor(Object.values(secrets));
  const ofRecords = new Redactor(Object.values(secrets).filter(isKey));
  const add = (secret: string) => [redactor, ofRecords].forEach((each) => each.add(secret));
  const [offers, conversions] = [offersOf(entry), conversionsOf(entry)];
  // HTTP Basic sends both secrets as one base64 text, in which the redactor would find neither.
  for (const stream of [offers?.stream, offers?.campaigns?.stream, conversions?.stream])
    for (const basic of [stream?.basic, stream?.token?.basic]) if (basic !== undefined) add(basicText(basic, secrets));
  return {
    name: entry.source,
    baseUrl: entry.base_url ?? connector.baseUrl ?? '',
    secrets,
    account: accountOf(entry.source, secrets),
    redactor,
    onToken: add,
    ...withoutSecrets(
      entry.pull.includes('offers') ? offers : undefined,
      entry.pull.includes('conversions') ? conversions : undefined,
      (text) => ofRecords.redact(text),
    ),
  };
}

/** The lists, with records in which nothing has a secret that the network echoes. */
function withoutSecrets(
  offers: ResolvedSource['offers'],
  conversions: ResolvedSource['conversions'],
  redact: (text: string) => string,
): Pick<ResolvedSource, 'offers' | 'conversions'> {
  return {
    offers: offers && {
      ...offers,
      toCanonical: (record, link) => offerWithoutSecrets(offers.toCanonical(record, link), redact),
    },
    conversions: conversions && {
      ...conversions,
      toConversion: (record) => conversionWithoutSecrets(conversions.toConversion(record), redact),
    },
  };
}

/** Sources with the same secrets have one account; without any each has its own. */
function accountOf(source: string, secrets: TemplateValues): string {
  const values = Object.values(secrets).toSorted();
  return JSON.stringify(values.length === 0 ? { source } : values);
}

function conversionsOf(entry: SourceEntry): ResolvedSource['conversions'] {
  if (entry.conversions !== undefined) {
    const { fields, rows, corrections, window_days, date_format, ...stream } = entry.conversions;
    const toConversion = declaredConversion({ rows, corrections, fields });
    const hasCorrections = corrections !== undefined;
    const isAskedByDays = hasPlaceholder(stream, 'from') || hasPlaceholder(stream, 'to');
    // A list that takes no days is the same in each window.
    const windowDays = isAskedByDays ? window_days : Infinity;
    const idAt = fields.fields['conversion_id']?.at;
    return { stream, windowDays, dateFormat: date_format, hasCorrections, toConversion, idAt, isDeclared: true };
  }
  const conversions = connectorNamed(entry.connector)?.conversions;
  if (conversions === undefined) return undefined;
  const { windowDays, toConversion, ...declaration } = conversions;
  return {
    stream: streamSchema.parse(declaration),
    windowDays,
    dateFormat: isoDate,
    hasCorrections: false,
    toConversion,
    isDeclared: false,
  };
}

function offersOf(entry: SourceEntry): ResolvedSource['offers'] {
  const settings = { currency: entry.currency, keepNonIncentive: entry.keep.includes('non_incentive') };
  if (entry.offers !== undefined) {
    const { fields, rows, warnings, non_incentive, full, click_id, links, ...stream } = entry.offers;
    const read = declaredOffer({ rows, warnings, non_incentive, fields }, settings);
    const needsLink = links !== undefined || hasField(fields, 'destination_url');
    const toCanonical = (record: NetworkRecord, link?: string) => {
      const made = withClickLink(withLink(read(record), link), click_id);
      return needsLink ? pausedWithoutLink(made) : made;
    };
    const campaigns = links === undefined ? {} : { campaigns: campaignsOf(links) };
    return { stream, isFull: full, ...campaigns, toCanonical, idAt: idPlaces(fields) };
  }
  const offers = connectorNamed(entry.connector)?.offers;
  if (offers === undefined) return undefined;
  const { isFull, clickId, toCanonical, ...declaration } = offers;
  return {
    stream: streamSchema.parse(declaration),
    isFull,
    toCanonical: (record) => pausedWithoutLink(withClickLink(toCanonical(record, settings), clickId)),
  };
}

function campaignsOf({ of, rows, at, ...stream }: LinksDeclaration): CampaignRequest {
  const counts = rowFilter(rows);
  return {
    stream,
    campaignOf: (record) => record.text(of),
    linkOf: (records) => {
      for (const record of records) {
        const link = counts(record.value) ? record.text(at) : undefined;
        if (link !== undefined) return link;
      }
      return undefined;
    },
  };
}

function withLink(made: CanonicalRecord, link: string | undefined): CanonicalRecord {
  if (!('record' in made) || link === undefined) return made;
  return { ...made, record: canonicalOffer({ ...made.record, destination_url: link }) };
}

/** Puts our click id where links of the network take it. */
function withClickLink(made: CanonicalRecord, place: ClickIdPlace | undefined): CanonicalRecord {
  const link = 'record' in made ? made.record['destination_url'] : undefined;
  if (!('record' in made) || typeof link !== 'string' || place === undefined) return made;
  return { ...made, record: { ...made.record, destination_url: withClickId(link, place) } };
}

/** An offer that the account has not joined has no link, and its clicks would lead nowhere. */
function pausedWithoutLink(made: CanonicalRecord): CanonicalRecord {
  if (!('record' in made) || made.record['destination_url'] !== undefined) return made;
  const record = canonicalOffer({ ...made.record, status: 'paused' });
  return { record, warnings: [...(made.warnings ?? []), 'no_link'] };
}
