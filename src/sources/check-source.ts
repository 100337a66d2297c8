import { NetworkRecord } from './records/record-fields.ts';
import { jsonText } from '../kit/text/json-text.ts';
import { addDays, dayOf, momentOfMilliseconds } from '../kit/time/moment.ts';
import { FetchError, type Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
import { windowValues } from './http/window-days.ts';
import type { ResolvedSource } from './resolve-source.ts';
import { pageFacts } from './fetch-all-pages.ts';
import { firstPage } from './next-page.ts';

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
  const { stream, toCanonical } = offers;
  const page = await pagesOf(source, stream, fetching)(firstPage(stream));
  const { records, total } = pageFacts(stream, page);
  const made = records.flatMap((record) => {
    const canonical = toCanonical(new NetworkRecord(record));
    return 'record' in canonical ? [jsonText(canonical.record)] : [];
  });
  return { total: total ?? null, records: made.length, first: made[0] ?? null };
}

async function checkConversions(
  source: ResolvedSource,
  { stream, windowDays, dateFormat, toConversion }: NonNullable<ResolvedSource['conversions']>,
  fetching: Fetching,
): Promise<ConversionsCheck> {
  const today = dayOf(momentOfMilliseconds(fetching.clock.now()));
  const days = windowValues(addDays(today, -Math.min(windowDays, shownDays)), today, dateFormat);
  const page = await pagesOf(source, stream, fetching, days)(firstPage(stream));
  const check: ConversionsCheck = { records: 0, left_out: {}, first: null };
  for (const record of pageFacts(stream, page).records) {
    const read = toConversion(new NetworkRecord(record)) ?? 'unreadable';
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
