import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { ConsoleUser } from '../access/users.ts';
import type { ActionJobs } from '../actions/jobs.ts';
import type { ConsoleSnapshot, RowOrder } from '../data/console-snapshot.ts';
import type { SqlBox } from '../data/sql-box.ts';
import type { Address } from '../html/address.ts';
import type { Html } from '../../kit/html/html.ts';
import { rowsPerFile, rowsPerPage, type TablePart } from '../html/table.ts';
import type { LiveDeliveries } from '../live/deliveries.ts';
import type { HealthSummary } from '../live/health.ts';

/** The reason that a page cannot be shown, with the HTTP status of the answer. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
  readonly status: number;
  /** An address that shows nearly the same. */
  readonly instead: { href: string; text: string } | undefined;

  constructor(status: number, message: string, instead?: ConsoleError['instead']) {
    super(message);
    this.status = status;
    this.instead = instead;
  }
}

/** A request for a page, with all that pages may read. */
export interface PageRequest {
  snapshot: ConsoleSnapshot;
  /** Parameters of the path: `id` of `/offers/:id`. */
  path: Readonly<Record<string, string>>;
  address: Address;
  user: ConsoleUser;
  /** The result of the last health check. */
  health: HealthSummary;
  deliveries: Pick<LiveDeliveries, 'read' | 'show'>;
  data: DataDirectory;
  settings: Settings;
  /** Actions that operators started from the console. */
  jobs: Pick<ActionJobs, 'list' | 'find'>;
  /** Answers queries of the reader. */
  sqlBox: Pick<SqlBox, 'ask'>;
  /** The clock in milliseconds since the epoch, for live pages only. */
  now: number;
  /** The part of a long table that is shown: one page of rows, or all rows for a CSV file. */
  part: { first: number; rows: number };
}

export interface PageContent {
  /** Names the thing, not only the kind of page: `Offer 1000017, Candy Quest`. */
  title: string;
  /** The question that the page answers. */
  question: string;
  /** Markup and tables in the order of the page; false adds nothing. */
  parts: readonly (Html | TablePart | false)[];
}

/** Path and parameters of the page that answers instead. */
export interface PageRedirect {
  redirect: string;
}

/** A page of the console: a pure function of a snapshot and an address, unless it is `live`. */
export interface Page {
  /** A pattern of Fastify, such as `/offers/:id`. */
  path: string;
  /** The name in the navigation; undefined for pages that other pages link to. */
  navigation?: string;
  /** The page shows more than its snapshot; it is never cached. */
  live?: boolean;
  show(request: PageRequest): PageContent | PageRedirect | Promise<PageContent | PageRedirect>;
}

/** A request for a page that needs no snapshot. */
export type BareRequest = Pick<PageRequest, 'user' | 'health' | 'data' | 'settings' | 'now'>;

/** A page that shows nothing of a snapshot: it is there before the first one is published. */
export interface BarePage extends Pick<Page, 'path' | 'navigation'> {
  title: string;
  body(request: BareRequest): Html;
}

/** The rows that an address asks for by `from_row`. Throws where that is no number. */
export function partOf(address: Address): PageRequest['part'] {
  if (address.get('csv') !== undefined) return { first: 0, rows: rowsPerFile };
  const text = address.get('from_row') ?? '0';
  if (!/^\d{1,9}$/.test(text)) throw new ConsoleError(400, `from_row is "${text}"; it has to be the number of a row`);
  return { first: Number(text), rows: rowsPerPage };
}

/** The order that an address asks for by `sort`: `column.down` or `column.up` of a sortable column. */
export function orderOf(
  address: Address,
  columns: readonly { name: string; sortable?: boolean }[],
): RowOrder | undefined {
  const sort = address.get('sort');
  if (sort === undefined) return undefined;
  const [column = '', direction = ''] = sort.split('.');
  const isKnown = columns.some(({ name, sortable }) => sortable === true && name === column);
  if (!isKnown || !['up', 'down'].includes(direction))
    throw new ConsoleError(400, `This page cannot be sorted by "${sort}".`);
  return { column, descending: direction === 'down' };
}

/** A parameter read by `parse`, whose error becomes the answer 400; undefined where the address has none. */
export function parameterOf<Value>(
  address: Address,
  name: string,
  parse: (text: string, name: string) => Value,
): Value | undefined {
  const text = address.get(name);
  if (text === undefined) return undefined;
  try {
    return parse(text, name);
  } catch (error) {
    throw new ConsoleError(400, (error as Error).message);
  }
}
