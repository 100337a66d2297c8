import { NetworkRecord } from './records/record-fields.ts';
import { jsonText } from '../kit/text/json-text.ts';
import { FetchError, type Fetching } from './http/fetcher.ts';
import { pagesOf } from './http/pages.ts';
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
}

/** Fetches one page: proves host, key, success rule and the place of the records. Throws `FetchError`. */
export async function checkSource(source: ResolvedSource, fetching: Fetching): Promise<SourceCheck> {
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
