import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { ConsoleUser } from '../access/users.ts';
import type { ActionJobs } from '../actions/jobs.ts';
import { ConsoleError } from './console-error.ts';
import type { ConsoleSnapshot } from '../data/console-snapshot.ts';
import type { Address } from '../html/address.ts';
import type { LiveDeliveries } from '../live/deliveries.ts';
import type { Health } from '../live/health.ts';
import type { Html } from '../html/html.ts';
import { rowsPerFile, rowsPerPage, type TablePart } from '../html/table.ts';

/** One look at one page. */
export interface Visit {
  snapshot: ConsoleSnapshot;
  /** Of the path: `id` of `/offers/:id`. */
  path: Readonly<Record<string, string>>;
  address: Address;
  user: ConsoleUser;
  /** How all stands, as it was found a moment ago. */
  health: Health;
  deliveries: Pick<LiveDeliveries, 'read' | 'show'>;
  data: DataDirectory;
  settings: Settings;
  /** What operators began from the console. */
  jobs: Pick<ActionJobs, 'list' | 'find'>;
  /** The clock, milliseconds since the epoch: for what is live, and for nothing of a snapshot. */
  now: number;
  /** Which rows of a long table are wanted: one page of them, or all for a CSV file. */
  part: { first: number; rows: number };
}

/** What a page comes to. */
export interface PageContent {
  /** Names the thing and not the kind of page alone: `Offer 1000017, Candy Quest`. */
  title: string;
  /** What the page answers, as a question. */
  question: string;
  /** In the order in which they are shown. A table can be had as CSV; markup can not. */
  parts: readonly (Html | TablePart)[];
}

/** What a page comes to whose question another page answers: path and parameters of that page. */
export interface Elsewhere {
  elsewhere: string;
}

/** A page of the console: a pure function of a snapshot and an address, or `live` where it shows what changes. */
export interface Page {
  /** As Fastify writes it: `/offers/:id`. */
  path: string;
  /** Under which name it stands in the navigation; undefined for those that others lead to. */
  navigation?: string;
  /** Whether it shows what is not the snapshot's; such a page is never kept. */
  live?: boolean;
  show(visit: Visit): Promise<PageContent | Elsewhere>;
}

/** The part of a long table that an address asks for. Throws where it is no number. */
export function partOf(address: Address): Visit['part'] {
  if (address.get('csv') !== undefined) return { first: 0, rows: rowsPerFile };
  const text = address.get('from_row') ?? '0';
  if (!/^\d{1,9}$/.test(text)) throw new ConsoleError(400, `from_row is "${text}", which is no number of a row`);
  return { first: Number(text), rows: rowsPerPage };
}

/** The order that an address asks for, among columns that may be sorted by; `column.down` or `column.up`. */
export function orderOf(
  address: Address,
  columns: readonly { name: string; sortable?: boolean }[],
  otherwise?: { column: string; descending: boolean },
): { column: string; descending: boolean } | undefined {
  const wanted = address.get('sort');
  if (wanted === undefined) return otherwise;
  const [column = '', direction = ''] = wanted.split('.');
  const known = columns.some(({ name, sortable }) => sortable === true && name === column);
  if (!known || !['up', 'down'].includes(direction))
    throw new ConsoleError(400, `this page cannot be sorted by "${wanted}"`);
  return { column, descending: direction === 'down' };
}
