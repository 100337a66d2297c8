import type { ColumnValue, QueryRow } from '../../kit/duckdb/dialect/rows.ts';
import { csvLine, csvRow } from '../../kit/text/csv.ts';
import type { Address } from './address.ts';
import { statusBadge } from './badges.ts';
import { html, nothing, type Html } from '../../kit/html/html.ts';
import { clearLink } from './filter-form.ts';
import {
  idText,
  linkTo,
  missing,
  moment,
  moneyValue,
  shownNumber,
  numberValue,
  percentValue,
  plainValue,
  type LinkedPages,
} from './values.ts';

export interface Column<R> {
  /** The column of the query, and of the CSV file. */
  name: keyof R & string;
  title: string;
  /**
   * `number`, `money` (two places, the rest on hover) and `percent` (a ratio): aligned right; `moment`: to the second;
   * `status`: a badge; `id`: cut to its beginning. Default: text.
   */
  kind?: 'text' | 'number' | 'money' | 'percent' | 'moment' | 'status' | 'id';
  /** The pages that the value is an id of. */
  link?: LinkedPages;
  /** The figure of `/figures` that defines this column. */
  figure?: string;
  sortable?: boolean;
  /** The reason that a cell without a value shows. */
  whyNone?: string;
  /** Markup of a cell that needs more than its value. */
  show?: (row: R) => Html;
}

export interface TableOptions<R = QueryRow> {
  /** Unique on its page; the address of the CSV file names it. */
  name: string;
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  /** Number of all rows, shown or not; undefined where all are shown. */
  total?: number | undefined;
  /** Position of the first row that is shown, from 0. */
  first?: number;
  /** The query that gives these rows on this snapshot; undefined for live rows. */
  sql?: string | undefined;
  /** The command that prints the same rows. Default for a query: `offerline sql` with it. */
  command?: string | undefined;
  maxRowsInFile?: number;
  /** The table opens on request. */
  folded?: boolean;
  /** Shown in place of no rows: what is missing, and the command that brings it. */
  empty: Html | string;
}

export const rowsPerPage = 100;
/** The limit of a CSV file whose table gives none. */
export const rowsPerFile = 100_000;

/** A table of a page, as markup and as a CSV file. */
export interface TablePart {
  name: string;
  markup(address: Address): Html;
  csv(): string;
}

/** A table with its query, its command, its CSV file and its limit. */
export function dataTable<R extends object>(options: TableOptions<R>): TablePart {
  return {
    name: options.name,
    markup: (address) => section(options, address),
    csv: () => csvOf(options),
  };
}

/** People open the file in a spreadsheet, which must not run a text as a formula. */
function csvOf<R extends object>({ columns, rows }: TableOptions<R>): string {
  const names = columns.map(({ name }) => name);
  return csvRow(names, 'spreadsheet') + rows.map((row) => csvLine(names, row, 'spreadsheet')).join('');
}

function section<R extends object>(options: TableOptions<R>, address: Address): Html {
  const { name, caption, folded = false } = options;
  const title = html`<h2>${caption}</h2>`;
  const content = html`${rowsOf(options, address)}${sources(options, address)}`;
  return html`<section class="table" id="${name}">
    ${folded ? html`<details class="fold"><summary>${title}</summary>${content}</details>` : html`${title}${content}`}
  </section>`;
}

function rowsOf<R extends object>(options: TableOptions<R>, address: Address): Html {
  const { caption, columns, rows } = options;
  if (rows.length === 0) return html`<p class="empty">${noRows(options, address)}</p>`;
  const places = columns.map((column) => placesOf(column, rows));
  const lines = rows.map((row) => html`<tr>${columns.map((column, at) => cell(column, row, places[at] ?? 0))}</tr>\n`);
  return html`<div class="scrolled rows" tabindex="0" role="region" aria-label="${caption}"><table>
      <thead><tr>${columns.map((column) => heading(column, address))}</tr></thead>
      <tbody>${lines}</tbody>
    </table></div>
    ${pagination(options, address)}`;
}

function noRows<R>({ first = 0, empty }: TableOptions<R>, address: Address): Html {
  if (first === 0) return html`${empty} ${clearLink(address)}`;
  const beginning = address.with({ from_row: undefined }).href;
  return html`There is no row ${shownNumber(first + 1)}. <a href="${beginning}">Show the first rows</a>`;
}

function heading<R>(column: Column<R>, address: Address): Html {
  const { name, title, figure, sortable } = column;
  const [sorted, direction] = (address.get('sort') ?? '').split('.');
  const isSorted = sortable === true && sorted === name;
  const next = isSorted && direction === 'down' ? 'up' : 'down';
  const sortedBy = address.with({ sort: `${name}.${next}`, from_row: undefined }).href;
  const text =
    sortable === true
      ? html`<a href="${sortedBy}">${title}${isSorted && html`<span aria-hidden="true"> ${direction === 'down' ? '↓' : '↑'}</span>`}</a>`
      : html`${title}`;
  const order = isSorted && html` aria-sort="${direction === 'down' ? 'descending' : 'ascending'}"`;
  const definition =
    figure !== undefined &&
    html`\u00A0<a class="meaning" href="/figures/${figure}" aria-label="Definition of ${title}">?</a>`;
  return html`<th scope="col" class="${alignment(column)}" data-column="${name}"${order}>${text}${definition}</th>`;
}

function cell<R extends object>(column: Column<R>, row: R, places: number): Html {
  const { name, show } = column;
  const content = show === undefined ? valueOf(column, (row as QueryRow)[name] ?? null, places) : show(row);
  return html`<td class="${alignment(column)}">${content}</td>`;
}

function alignment<R>({ kind }: Column<R>): string {
  return kind === 'number' || kind === 'money' || kind === 'percent' ? kind : 'text';
}

function valueOf<R>({ kind, link, whyNone }: Column<R>, value: ColumnValue, places: number): Html {
  if (value === null) return missing(whyNone ?? 'none');
  if (typeof value !== 'number' && typeof value !== 'string') return plainValue(value);
  const shown = kind === 'id' ? idText(String(value)) : undefined;
  if (link !== undefined) return linkTo(link, value, shown);
  if (shown !== undefined) return shown;
  if (kind === 'number') return numberValue(value, places);
  if (kind === 'money') return moneyValue(value);
  if (kind === 'percent') return percentValue(value, places);
  if (kind === 'moment') return moment(String(value));
  if (kind === 'status') return statusBadge(String(value));
  return plainValue(value);
}

/** Most digits behind the point among the numbers of a column, so that the points of all rows are in one line. */
function placesOf<R extends object>({ name, kind = 'text' }: Column<R>, rows: readonly R[]): number {
  if (kind !== 'number' && kind !== 'percent') return 0;
  const fractions = rows.map((row) => {
    const value = (row as QueryRow)[name];
    return typeof value === 'string' ? (value.split('.')[1] ?? '').replace(/0+$/, '').length : 0;
  });
  // In per cent the point is two digits on, and no more than two follow it.
  return kind === 'percent'
    ? Math.min(2, Math.max(0, ...fractions.map((digits) => digits - 2)))
    : Math.max(0, ...fractions);
}

function pagination<R>({ rows, total = rows.length, first = 0 }: TableOptions<R>, address: Address): Html {
  if (rows.length >= total && first === 0)
    return html`<p class="count">${shownNumber(total)} ${total === 1 ? 'row' : 'rows'}</p>`;
  const last = first + rows.length;
  return html`<p class="count">
    ${shownNumber(first + 1)} to ${shownNumber(last)} of ${shownNumber(total)} rows
    ${first > 0 && html`<a rel="prev" href="${address.with({ from_row: first <= rowsPerPage ? undefined : String(first - rowsPerPage) }).href}">previous</a>`}
    ${last < total && html`<a rel="next" href="${address.with({ from_row: String(last) }).href}">next</a>`}
  </p>`;
}

function sources<R>(options: TableOptions<R>, address: Address): Html {
  const { name, sql, command, rows, total = rows.length, maxRowsInFile = rowsPerFile } = options;
  if (sql === undefined && command === undefined) return nothing;
  const cut = total > maxRowsInFile && html`, the first ${shownNumber(maxRowsInFile)} of ${shownNumber(total)} rows`;
  return html`<details class="sources">
    <summary>${sql === undefined ? 'Command' : 'SQL'}${rows.length > 0 ? ' and CSV' : ''}</summary>
    ${sql !== undefined && html`<pre class="sql" tabindex="0"><code>${sql}</code></pre>`}
    <p>On the command line: ${command === undefined ? html`<code>offerline sql</code> with this query` : html`<code>${command}</code>`}</p>
    ${rows.length > 0 && html`<p><a href="${address.with({ csv: name, from_row: undefined }).href}" download>Download as CSV</a>${cut}</p>`}
  </details>`;
}
