import type { CanonicalRecord } from './connectors/connector.ts';
import type { NetworkConversion, NoConversion } from './connectors/network-conversion.ts';
import { NetworkRecord } from './records/record-fields.ts';
import { jsonText, type JsonValue } from '../kit/text/json-text.ts';
import { addDays, dayOf, momentOfMilliseconds } from '../kit/time/moment.ts';
import { FetchError, type Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { windowValues } from './http/window-days.ts';
import { CampaignLinks } from './campaign-links.ts';
import type { ResolvedSource } from './resolve-source.ts';
import { pageFacts, requireIds } from './fetch-all-pages.ts';
import { firstAddress } from './next-page.ts';
import { isNamedConversion } from './pull-conversions.ts';
import { isNamedOffer } from './pull-offers.ts';

/** Result of reading one page of a source. */
export interface SourceCheck {
  /** Number of offers as the network states it; null where it states none. */
  total: number | null;
  /** Number of the page's records that became offers. */
  records: number;
  /** The first offer, in the form of a landing record. */
  first: string | null;
  /** Result of reading a page of conversions, where their list is declared. */
  conversions?: ConversionsCheck;
}

interface ConversionsCheck {
  /** Number of the page's records that are conversions. */
  records: number;
  /** The others, by reason. */
  left_out: Record<string, number>;
  /** The first conversion. */
  first: string | null;
}

/** A record of the network, and what its connector makes of it. */
export interface ReadRecord<Read> {
  record: JsonValue;
  read: Read;
}
export type ReadOffer = ReadRecord<CanonicalRecord>;
export type ReadConversion = ReadRecord<NetworkConversion | NoConversion>;

/** Records of the first page of each list that was asked for, as the network sends them. */
export interface FirstPages {
  offers?: {
    total: number | null;
    records: JsonValue[];
    /** Links of campaigns, where the list has none: of the first `linked` records alone. */
    links: CampaignLinks;
    linked: number;
  };
  conversions?: { records: JsonValue[] };
}

/** Reads a record of offers as the source's connector does, with the link of its campaign. */
export function readOffer({ offers }: ResolvedSource, record: JsonValue, links: CampaignLinks): CanonicalRecord {
  const fields = new NetworkRecord(record);
  return offers === undefined ? { leftOut: 'not_pulled' } : offers.toCanonical(fields, links.of(fields));
}

/** Reads a record of conversions as the source's connector does. */
export function readConversion({ conversions }: ResolvedSource, record: JsonValue): NetworkConversion | NoConversion {
  const read = conversions?.toConversion(new NetworkRecord(record)) ?? 'unreadable';
  return typeof read !== 'string' && read.isCorrection === true ? 'correction' : read;
}

/**
 * Fetches one page of each list: proves host, key, success rule and the place of the records. `shown`: the number of
 * records that are looked at one by one, for which the conversions of networks that offerline knows are asked for, too;
 * without it only those that are declared. Throws `FetchError`.
 */
export async function readFirstPages(
  source: ResolvedSource,
  fetching: Fetching,
  shown: number | undefined,
): Promise<FirstPages> {
  const { offers, conversions } = source;
  const pages: FirstPages = {};
  if (offers !== undefined) pages.offers = await offersPage(source, offers, fetching, shown ?? 1);
  else if (conversions === undefined) throw new FetchError('the source has no list of offers');
  if (conversions !== undefined && (shown !== undefined || conversions.isDeclared || offers === undefined))
    pages.conversions = await conversionsPage(source, conversions, fetching);
  return pages;
}

/** Counts what becomes of the first pages. */
export function checkOf(source: ResolvedSource, { offers, conversions }: FirstPages): SourceCheck {
  const read = (offers?.records ?? []).map((record) => readOffer(source, record, offers?.links as CampaignLinks));
  const made = read.flatMap((canonical) => ('record' in canonical ? [jsonText(canonical.record)] : []));
  const check = { total: offers?.total ?? null, records: made.length, first: made[0] ?? null };
  if (conversions === undefined) return check;
  return {
    ...check,
    conversions: conversionsCheck(conversions.records.map((record) => readConversion(source, record))),
  };
}

async function offersPage(
  source: ResolvedSource,
  { stream, campaigns, idAt }: NonNullable<ResolvedSource['offers']>,
  fetching: Fetching,
  shown: number,
): Promise<NonNullable<FirstPages['offers']>> {
  const page = await pagesOf(source, stream, fetching)(firstAddress(stream));
  const { records, total } = pageFacts(stream, page);
  const links = new CampaignLinks(source, fetching);
  const read = records.map((record) => ({ isNamed: isNamedOffer(record, readOffer(source, record, links), idAt) }));
  requireIds(stream.records, idAt, page, records, read);
  const linked = campaigns === undefined ? records.length : Math.min(shown, records.length);
  await links.learn(records.slice(0, linked));
  return { total: total ?? null, records, links, linked };
}

async function conversionsPage(
  source: ResolvedSource,
  { stream, windowDays, dateFormat, idAt }: NonNullable<ResolvedSource['conversions']>,
  fetching: Fetching,
): Promise<NonNullable<FirstPages['conversions']>> {
  const today = dayOf(momentOfMilliseconds(fetching.clock.now()));
  const days = windowValues(addDays(today, -Math.min(windowDays, shownDays)), today, dateFormat);
  const page = await pagesOf(source, stream, fetching, days)(firstAddress(stream));
  const { records } = pageFacts(stream, page);
  const read = records.map((record) => ({ isNamed: isNamedConversion(record, readConversion(source, record), idAt) }));
  requireIds(stream.records, idAt, page, records, read);
  return { records };
}

function conversionsCheck(read: readonly (NetworkConversion | NoConversion)[]): ConversionsCheck {
  const check: ConversionsCheck = { records: 0, left_out: {}, first: null };
  for (const conversion of read) {
    if (typeof conversion === 'string') check.left_out[conversion] = (check.left_out[conversion] ?? 0) + 1;
    else {
      check.records++;
      check.first ??= JSON.stringify(conversion);
    }
  }
  return check;
}

/** Days of conversions that a check asks for, at most. */
const shownDays = 31;
