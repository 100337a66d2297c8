import { NetworkRecord } from './records/record-fields.ts';
import { jsonText } from '../kit/text/json-text.ts';
import { addDays, dayOf, momentOfMilliseconds } from '../kit/time/moment.ts';
import { FetchError, type Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { windowValues } from './http/window-days.ts';
import { CampaignLinks } from './campaign-links.ts';
import type { ResolvedSource } from './resolve-source.ts';
import { pageFacts, requireIds } from './fetch-all-pages.ts';
import { firstPage } from './next-page.ts';
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

/**
 * Fetches one page of each list: proves host, key, success rule and the place of the records. Throws `FetchError`. The
 * conversions of networks that offerline knows are not asked for.
 */
export async function checkSource(source: ResolvedSource, fetching: Fetching): Promise<SourceCheck> {
  if (source.conversions?.isDeclared !== true) return checkOffers(source, fetching);
  const offers =
    source.offers === undefined ? { total: null, records: 0, first: null } : await checkOffers(source, fetching);
  return { ...offers, conversions: await checkConversions(source, source.conversions, fetching) };
}

async function checkOffers(source: ResolvedSource, fetching: Fetching): Promise<SourceCheck> {
  const { offers } = source;
  if (offers === undefined) throw new FetchError('the source has no list of offers');
  const { stream, toCanonical, idAt } = offers;
  const page = await pagesOf(source, stream, fetching)(firstPage(stream));
  const { records, total } = pageFacts(stream, page);
  const links = new CampaignLinks(source, fetching);
  // The first offer is shown, with its link.
  await links.learn(records.slice(0, 1));
  const read = records.map((record) => {
    const fields = new NetworkRecord(record);
    const canonical = toCanonical(fields, links.of(fields));
    return { canonical, isNamed: isNamedOffer(record, canonical, idAt) };
  });
  requireIds(stream.records, idAt, records, read);
  const made = read.flatMap(({ canonical }) => ('record' in canonical ? [jsonText(canonical.record)] : []));
  return { total: total ?? null, records: made.length, first: made[0] ?? null };
}

async function checkConversions(
  source: ResolvedSource,
  { stream, windowDays, dateFormat, toConversion, idAt }: NonNullable<ResolvedSource['conversions']>,
  fetching: Fetching,
): Promise<ConversionsCheck> {
  const today = dayOf(momentOfMilliseconds(fetching.clock.now()));
  const days = windowValues(addDays(today, -Math.min(windowDays, shownDays)), today, dateFormat);
  const page = await pagesOf(source, stream, fetching, days)(firstPage(stream));
  const check: ConversionsCheck = { records: 0, left_out: {}, first: null };
  const { records } = pageFacts(stream, page);
  const conversions = records.map((record) => {
    const read = toConversion(new NetworkRecord(record)) ?? 'unreadable';
    return { read, isNamed: isNamedConversion(record, read, idAt) };
  });
  requireIds(stream.records, idAt, records, conversions);
  for (const { read } of conversions) {
    if (typeof read === 'string') check.left_out[read] = (check.left_out[read] ?? 0) + 1;
    else {
      check.records++;
      check.first ??= JSON.stringify(read);
    }
  }
  return check;
}

/** Days of conversions that a check asks for, at most. */
const shownDays = 31;
