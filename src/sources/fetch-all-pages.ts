import { hash } from 'node:crypto';
import { csvRecords as readCsv } from '../kit/text/csv.ts';
import { isJsonObject, type JsonValue } from '../kit/text/json-text.ts';
import type { Stream } from './connectors/declaration.ts';
import { membersOf, scalarText, valueAt } from './records/record-fields.ts';
import { FetchError } from './http/fetcher.ts';

/** A list moved while it was read: another try may find it at rest. */
export class MovedError extends FetchError {}

/** A list that moves while it is read is read once more. */
const tries = 2;

/** Does what reads a list again where that moved; `onRetry` is told why. Throws `MovedError` where it keeps moving. */
export async function retryIfMoved<Result>(
  read: () => Promise<Result>,
  onRetry: (reason: string, waitMilliseconds: number) => void,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof MovedError) || attempt === tries) throw error;
      onRetry(error.message, 0);
    }
  }
}

/** Of one list, whatever its server says. */
const maxPages = 10_000;

/** What a record came to. `id` tells it from all others of the list. */
export interface ListItem {
  id: string;
}

export interface PagesReading<Item extends ListItem> {
  /** A list of nothing is whole, too; otherwise it is not believed. */
  mayBeEmpty?: boolean;
  /** Fetches the page by its number, or by the row that it begins at. */
  fetch(page: number, size: number): Promise<JsonValue>;
  read(record: JsonValue): Item;
  /** Called with what the records of each page came to. */
  take(items: Item[], page: number): void;
}

/**
 * Reads all pages of a list. Resolves only where it is whole: every page came and brought new records, and there are as
 * many as it says, on the first page as on the last. Throws `MovedError` where it changed meanwhile, `FetchError` where
 * its paging makes no sense. Returns the number of pages and of records.
 */
export async function fetchAllPages<Item extends ListItem>(
  stream: Stream,
  reading: PagesReading<Item>,
): Promise<{ pages: number; records: number }> {
  const { paging } = stream;
  const size = paging.kind === 'single' ? 0 : paging.size;
  const ids = new Set<string>();
  const seenPages = new Set<string>();
  let page: number = paging.kind === 'single' ? 1 : paging.first;
  let [pages, records] = [0, 0];
  let total: number | undefined;
  for (;;) {
    const answer = await reading.fetch(page, size);
    const { records: onPage, total: stated } = pageFacts(stream, answer);
    const found = onPage.map((record) => reading.read(record));
    pages++;
    records += found.length;
    if (pages === 1) total = stated;
    else if (stated !== undefined && total !== undefined && stated !== total)
      throw new MovedError(`the list had ${total} records on its first page and ${stated} on page ${pages}`);
    const pageIds = found.map(({ id }) => id);
    if (found.length > 0) {
      const digest = hash('sha256', pageIds.toSorted().join('\n'));
      if (seenPages.has(digest))
        throw new FetchError(`page ${pages} is one that came before: the server does not look at the page's number`);
      seenPages.add(digest);
    }
    const before = ids.size;
    for (const id of pageIds) ids.add(id);
    if (found.length > 0 && ids.size === before && pages > 1)
      throw new MovedError(`page ${pages} brought no record that was new`);
    reading.take(found, pages);
    const next = nextPage(stream, answer, { page, size, found: found.length, records, total });
    if (next === undefined) break;
    if (pages >= maxPages) throw new FetchError(`the list has more than ${maxPages} pages`);
    page = next;
  }
  if (ids.size === 0 && reading.mayBeEmpty !== true)
    throw new FetchError(
      'the source returned an empty list; keeping its current offers. Pause the source by hand if they are gone',
    );
  if (total !== undefined && ids.size !== total)
    throw new MovedError(`the list says that it has ${total} records, and ${ids.size} came`);
  return { pages, records: ids.size };
}

interface Progress {
  page: number;
  size: number;
  /** Records on this page, and so far. */
  found: number;
  records: number;
  total: number | undefined;
}

/** What to ask for next; undefined at the end. */
function nextPage(
  { paging }: Stream,
  answer: JsonValue,
  { page, size, found, records, total }: Progress,
): number | undefined {
  if (paging.kind === 'single' || found === 0) return undefined;
  if (total !== undefined && records >= total) return undefined;
  // A server may give fewer rows than were asked for: only an empty page is the end.
  if (paging.kind === 'row') return page + found;
  if (total !== undefined) return page + 1;
  const more = paging.more === undefined ? undefined : scalarText(valueAt(answer, paging.more))?.toLowerCase();
  if (more !== undefined) return more === 'true' || more === '1' ? page + 1 : undefined;
  const pages = numberAt(answer, paging.pages);
  if (pages !== undefined) return page - paging.first + 1 >= pages ? undefined : page + 1;
  const next = numberAt(answer, paging.next);
  if (next !== undefined) return next > page ? next : undefined;
  // The same of a page by number, where the server says how many it gives at most.
  return found < (numberAt(answer, paging.size_given) ?? size) ? undefined : page + 1;
}

/**
 * Throws `FetchError` where the answer has no place for records at all: only a list, or what networks write in place of
 * an empty one, says that there are none.
 */
function recordsOf(stream: Stream, answer: JsonValue): JsonValue[] {
  if (stream.format === 'csv') return boundedRecords(csvRecords(answer as string));
  let at: JsonValue | undefined = answer;
  for (const key of stream.records === '' ? [] : stream.records.split('.')) {
    if (isNone(at)) return [];
    if (!isJsonObject(at) || !Object.hasOwn(at, key))
      throw new FetchError(`the answer has no "${stream.records}", where the records stand`);
    at = at[key] ?? null;
  }
  if (!isNone(at) && !Array.isArray(at) && !isJsonObject(at))
    throw new FetchError(`what the answer has at "${stream.records}" is no list`);
  return boundedRecords(membersOf(at));
}

/** Each becomes an offer or a conversion of many fields, and all of a page at once. */
const mostRecords = 100_000;

function boundedRecords(records: JsonValue[]): JsonValue[] {
  if (records.length > mostRecords)
    throw new FetchError(
      `a page of ${records.length} records; at most ${mostRecords} are taken: ask for smaller pages`,
    );
  return records;
}

function isNone(value: JsonValue | undefined): boolean {
  return value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);
}

function csvRecords(text: string): JsonValue[] {
  const [head, ...rows] = readCsv(text, 'the answer');
  if (head === undefined) throw new FetchError('the answer is no CSV: it has no line');
  return rows.map(({ cells }) => Object.fromEntries(head.cells.map((name, column) => [name, cells[column] ?? ''])));
}

/**
 * The records of a page, and how many the list says it has. Throws `FetchError` where it has no place for records.
 */
export function pageFacts(stream: Stream, answer: JsonValue): { records: JsonValue[]; total: number | undefined } {
  const records = recordsOf(stream, answer);
  return { records, total: statedTotal(stream, answer, records.length) };
}

/** How many records the list says it has; some count by rows what the page has and nothing else. */
function statedTotal({ paging }: Stream, answer: JsonValue, found: number): number | undefined {
  const stated = numberAt(answer, paging.total);
  return paging.kind === 'row' && stated === found ? undefined : stated;
}

function numberAt(answer: JsonValue, place: string | undefined): number | undefined {
  const text = place === undefined ? undefined : scalarText(valueAt(answer, place));
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
