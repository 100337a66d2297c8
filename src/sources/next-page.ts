import { hash } from 'node:crypto';
import { scalarText, valueAt } from '../kit/intake/mapping/places.ts';
import type { JsonValue } from '../kit/text/json-text.ts';
import type { AnswerPlace, Stream } from './connectors/declaration.ts';
import { FetchError, type FetchedPage } from './http/fetcher.ts';
import type { PageAddress } from './http/pages.ts';

/** What has been read of a list. */
interface Progress {
  asked: PageAddress;
  /** Records on this page, and so far. */
  found: number;
  records: number;
  total: number | undefined;
}

/** Leads from each page of a stream to the next. */
export class Pages {
  readonly #stream: Stream;
  /** Digests of the cursors so far: a cursor may have kilobytes. */
  readonly #cursors = new Set<string>();
  /** An answer has said whether it is the last. */
  #isEndStated = false;
  /** Number of pages, as it was stated last. */
  #pages: number | undefined;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  /** Returns the next page to fetch; undefined after the last one. */
  after(answer: FetchedPage, progress: Progress): PageAddress | undefined {
    const { paging } = this.#stream;
    if (paging.kind === 'cursor') return this.#byCursor(paging, answer, progress.asked);
    const page = this.#byNumber(paging, answer, progress);
    return page === undefined ? undefined : { ...progress.asked, page };
  }

  /** True where nothing says which page is the last: then pages are asked for until one has nothing new. */
  isEndUnstated(answer: FetchedPage, total: number | undefined): boolean {
    const { paging } = this.#stream;
    if (total !== undefined || paging.kind === 'single' || paging.kind === 'cursor') return false;
    return paging.kind === 'row' || !(this.#isEndStated || saysEnd(paging, answer));
  }

  #byNumber(
    paging: Exclude<Stream['paging'], CursorPaging>,
    answer: FetchedPage,
    { asked: { page }, found, records, total }: Progress,
  ): number | undefined {
    if (paging.kind === 'single' || (total !== undefined && records >= total)) return undefined;
    // A server may send fewer records than requested: a page that is not full is no end.
    if (paging.kind === 'row') return found === 0 ? undefined : page + found;
    if (total !== undefined) return found === 0 ? undefined : page + 1;
    this.#isEndStated ||= saysEnd(paging, answer);
    this.#pages = numberAt(answer, paging.pages) ?? this.#pages;
    // Nor is an empty one where others are stated: some networks filter after they have cut the pages.
    const more = moreOf(paging.more, answer);
    if (more !== undefined) return more ? page + 1 : undefined;
    if (this.#pages !== undefined) return page - paging.first + 1 >= this.#pages ? undefined : page + 1;
    // A number may be one more for ever.
    if (found === 0) return undefined;
    const next = numberAt(answer, paging.next);
    if (next !== undefined) return next > page ? next : undefined;
    // Networks leave it out on the last page; where none had it, it says nothing.
    return this.#isEndStated ? undefined : page + 1;
  }

  /** An empty page is no end: some networks filter after they have cut the pages. */
  #byCursor(paging: CursorPaging, answer: FetchedPage, { page, size }: PageAddress): PageAddress | undefined {
    const at = paging.next ?? paging.next_url ?? '';
    const value = paging.next === undefined ? addressIn(answer, at) : valueIn(answer, at);
    const cursor = scalarText(value)?.trim();
    if (value !== undefined && cursor === undefined)
      throw new FetchError(`the value at ${nameOf(at)} is no text or number`);
    if (cursor === undefined || cursor === '' || isLast(paging, answer)) return undefined;
    if (cursor.length > maxCursor)
      throw new FetchError(`the cursor at ${nameOf(at)} has more than ${maxCursor} characters`);
    const digest = hash('sha256', cursor);
    if (this.#cursors.has(digest))
      throw new FetchError(`the cursor after page ${page} is that of an earlier page: the list would never end`);
    this.#cursors.add(digest);
    const next = { page: page + 1, size };
    return paging.next === undefined ? { ...next, url: cursor } : { ...next, cursor };
  }
}

type NumberPaging = Extract<Stream['paging'], { kind: 'page' }>;
type CursorPaging = Extract<Stream['paging'], { kind: 'cursor' }>;

/** Characters of a cursor, or of the address of a page. */
const maxCursor = 8192;

/** Returns the address of the first page. */
export function firstAddress({ paging }: Stream): PageAddress {
  if (paging.kind === 'single') return { page: 1, size: 0 };
  return { page: paging.kind === 'cursor' ? 1 : paging.first, size: paging.size };
}

/** True where an answer says whether it is the last. */
function saysEnd(paging: NumberPaging, answer: FetchedPage): boolean {
  return (moreOf(paging.more, answer) ?? numberAt(answer, paging.pages) ?? numberAt(answer, paging.next)) !== undefined;
}

function moreOf(place: AnswerPlace | undefined, answer: FetchedPage): boolean | undefined {
  const more = place === undefined ? undefined : scalarText(valueIn(answer, place))?.toLowerCase();
  return more === undefined ? undefined : more === 'true' || more === '1';
}

function isLast({ more, last }: CursorPaging, answer: FetchedPage): boolean {
  return moreOf(more, answer) === false || moreOf(last, answer) === true;
}

function nameOf(at: AnswerPlace): string {
  return typeof at === 'string' ? `"${at}"` : `header ${at.header}`;
}

function valueIn({ body, headers }: FetchedPage, at: AnswerPlace): JsonValue | undefined {
  return typeof at === 'string' ? valueAt(body, at) : headers[at.header.toLowerCase()];
}

/** Returns an address, of the header `Link` the one of the next page (RFC 8288). */
function addressIn(answer: FetchedPage, at: AnswerPlace): JsonValue | undefined {
  const value = valueIn(answer, at);
  if (typeof at === 'string' || at.header.toLowerCase() !== 'link' || typeof value !== 'string') return value;
  const links = Array.from(value.matchAll(link), ([, address, parameters = '']) => ({ address, parameters }));
  return links.find(({ parameters }) => nextRelation.test(parameters))?.address;
}

const link = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g;
const nextRelation = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?=[\s;,]|$))/i;

/** Returns a whole number of an answer. */
export function numberAt(answer: FetchedPage, place: AnswerPlace | undefined): number | undefined {
  const text = place === undefined ? undefined : scalarText(valueIn(answer, place));
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
