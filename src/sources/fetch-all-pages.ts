import { hash } from 'node:crypto';
import { keysAbove } from '../kit/intake/mapping/places.ts';
import { isJsonObject, type JsonValue } from '../kit/text/json-text.ts';
import { maxCatalogRecords } from '../kit/vocabulary/offer-bounds.ts';
import type { Stream } from './connectors/declaration.ts';
import { FetchError, quotedError, type FetchedPage } from './http/fetcher.ts';
import type { PageAddress } from './http/pages.ts';
import { recordsAt } from './records/records-at.ts';
import { firstAddress, numberAt, Pages } from './next-page.ts';

/** The list changed between its pages; another try may succeed. */
export class MovedError extends FetchError {}

/** Readings of a list that changes between its pages. */
const maxReadings = 2;

/** Reads a list, once more where it changed between its pages. Throws `MovedError` where it changes again. */
export async function retryIfMoved<Result>(
  read: () => Promise<Result>,
  onRetry: (reason: string, waitMilliseconds: number) => void,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof MovedError) || attempt === maxReadings) throw error;
      onRetry(error.message, 0);
    }
  }
}

/** Pages of one list. */
const maxPages = 10_000;

/** Result of reading a record. */
export interface ListItem {
  /** Identifies it within the list. */
  id: string;
  /** The record has an id of its own. */
  isNamed: boolean;
}

interface PagesReading<Item extends ListItem> {
  /** Accepts an empty list, which is an error otherwise. */
  mayBeEmpty?: boolean;
  /** Accepts a list that grows meanwhile, of which all came that there was at the first page. */
  mayGrow?: boolean;
  /** What makes a list shorter that has too many records, as half a sentence. */
  cureOfLength: string;
  /** Places of a record's id, where the source declares them. */
  idAt?: readonly string[] | undefined;
  fetch(page: PageAddress): Promise<FetchedPage>;
  read(record: JsonValue): Item;
  /** Receives the results of each page. */
  take(items: Item[], page: number): void;
}

/**
 * Reads all pages of a list and returns the number of pages and of records. Succeeds only for a complete list: every
 * page has new records, and their number is the total that the first and the last page state. Where no answer says
 * which page is the last, it is the one before an empty page or a page without new records. Throws `MovedError` where
 * the list changed meanwhile, `FetchError` where its paging makes no sense or it has too many records.
 */
export async function fetchAllPages<Item extends ListItem>(
  stream: Stream,
  reading: PagesReading<Item>,
): Promise<{ pages: number; records: number }> {
  const following = new Pages(stream);
  const ids = new Set<string>();
  const seenPages = new Set<string>();
  let asked = firstAddress(stream);
  let [pages, records] = [0, 0];
  let [first, total]: (number | undefined)[] = [];
  for (;;) {
    const answer = await reading.fetch(asked);
    const { records: onPage, total: stated } = pageFacts(stream, answer);
    const found = onPage.map((record) => reading.read(record));
    pages++;
    requireIds(stream.records, reading.idAt, answer, onPage, found);
    records += found.length;
    if (pages === 1) first = total = stated;
    else if (stated !== undefined && total !== undefined && stated !== total) {
      if (reading.mayGrow !== true || stated < total)
        throw new MovedError(
          `the list had ${total} records on ${total === first ? 'its first page' : 'a page before'} and ${stated} on page ${pages}`,
        );
      total = stated;
    }
    const pageIds = found.map(({ id }) => id);
    if (found.length > 0) {
      const digest = hash('sha256', pageIds.toSorted().join('\n'));
      if (seenPages.has(digest))
        throw new FetchError(`page ${pages} repeats an earlier one: ${repeatCure(stream.paging.kind)}`);
      seenPages.add(digest);
    }
    const before = ids.size;
    for (const id of pageIds) ids.add(id);
    // Landing takes no longer catalog, and all of a list is in memory.
    if (ids.size > maxCatalogRecords)
      throw new FetchError(
        `the list has more than ${maxCatalogRecords} records: the pull ends without them. ${reading.cureOfLength}`,
      );
    reading.take(found, pages);
    if (found.length > 0 && ids.size === before && pages > 1) {
      // What is new came before the page, and pushed known records onto it.
      if (following.isEndUnstated(answer, total) || total !== first) break;
      throw new MovedError(`page ${pages} has no new record`);
    }
    const next = following.after(answer, { asked, found: found.length, records, total });
    if (next === undefined) break;
    if (pages >= maxPages) throw new FetchError(`the list has more than ${maxPages} pages`);
    asked = next;
  }
  if (ids.size === 0 && reading.mayBeEmpty !== true)
    throw new FetchError(
      'the source returned an empty list: nothing is written, and its current offers stay. If they are gone for good, land an export of them with "status": "paused"',
    );
  const isWhole = total === first ? ids.size === total : ids.size >= (first ?? 0);
  if (total !== undefined && !isWhole) throw new MovedError(`the list states ${first} records, and ${ids.size} came`);
  return { pages, records: ids.size };
}

/**
 * Throws `FetchError` where no record of a page has an id: an error in place of the list has values too, and so has a
 * list that moved.
 */
export function requireIds(
  place: string,
  idAt: readonly string[] | undefined,
  answer: FetchedPage,
  records: readonly JsonValue[],
  read: readonly Pick<ListItem, 'isNamed'>[],
): void {
  requireColumn(idAt, answer);
  if (records.length === 0 || read.some(({ isNamed }) => isNamed)) return;
  const where = place === '' ? 'the answer' : `"${place}"`;
  const id = idAt === undefined ? 'an id' : `an id at ${idAt.map((at) => `"${at}"`).join(' or ')}`;
  throw new FetchError(
    `${where} has no record with ${id}: the first of ${records.length} is ${shapeOf(records[0])}. ` +
      `Either the answer is an error, or the list moved and its declaration has to follow${quotedError(answer)}`,
  );
}

/**
 * Throws `FetchError` where a CSV lacks the column of the ids: an error in plain text is a header without rows, which
 * would count as an empty list.
 */
function requireColumn(idAt: readonly string[] = [], { columns }: FetchedPage): void {
  if (columns === undefined || idAt.length === 0 || idAt.flatMap(keysAbove).some((key) => columns.includes(key)))
    return;
  throw new FetchError(
    `the answer has no column ${idAt.map((at) => `"${at}"`).join(' or ')}: its header is ${quoted(columns) || 'a long text'}. Either the answer is an error, ` +
      'or the columns have other names and its declaration has to follow; a text that means no records goes into "errors", with "do": "end"',
  );
}

/** Describes a value by its shape alone: its texts may hold a secret. */
function shapeOf(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (!isJsonObject(value)) return typeof value === 'string' ? 'a text' : 'no object';
  const names = quoted(Object.keys(value));
  return names === '' ? 'an object' : `an object with ${names}`;
}

/** Quotes names, but for long ones: a part of a name could be a part of a secret, which nothing would find. */
function quoted(names: readonly string[]): string {
  const short = names.filter(({ length }) => length <= maxKeyLength).slice(0, maxNamedKeys);
  return short.map((name) => `"${name}"`).join(', ');
}

const maxKeyLength = 40;
const maxNamedKeys = 8;

function repeatCure(kind: Stream['paging']['kind']): string {
  if (kind === 'cursor') return 'the server ignores the cursor';
  const number = kind === 'row' ? "row's number" : "page's number";
  return `the server ignores the ${number}; where the list has one page, leave "paging" out`;
}

function recordsOf({ format, records }: Stream, answer: FetchedPage): JsonValue[] {
  if (format.type !== 'json') return boundedRecords(answer.body as JsonValue[]);
  let found: JsonValue[];
  try {
    found = recordsAt(answer.body, records);
  } catch (error) {
    throw error instanceof FetchError ? new FetchError(error.message + quotedError(answer)) : error;
  }
  return boundedRecords(found);
}

/** All records of a page are in memory as offers or conversions of many fields. */
const maxRecordsOfPage = 100_000;

function boundedRecords(records: JsonValue[]): JsonValue[] {
  if (records.length > maxRecordsOfPage)
    throw new FetchError(
      `a page of ${records.length} records; at most ${maxRecordsOfPage} are taken: ask for smaller pages`,
    );
  return records;
}

/**
 * Returns the records of a page, and the total that the list states. Throws `FetchError` where their place is missing.
 */
export function pageFacts(stream: Stream, answer: FetchedPage): { records: JsonValue[]; total: number | undefined } {
  const records = recordsOf(stream, answer);
  return { records, total: statedTotal(stream, answer, records.length) };
}

/** The stated total; undefined too where a list by rows states the size of its page instead. */
function statedTotal({ paging }: Stream, answer: FetchedPage, found: number): number | undefined {
  const stated = numberAt(answer, paging.total);
  return paging.kind === 'row' && stated === found ? undefined : stated;
}
