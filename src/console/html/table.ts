import type { ColumnValue, QueryRow } from '../../kit/duckdb/dialect/rows.ts';
import type { Address } from './address.ts';
import { csvOf } from './csv.ts';
import { figure, figureText, plainValue, unknown } from './figures.ts';
import { html, nothing, type Html } from './html.ts';

export interface Column<R> {
  /** The column of the query; the CSV file has it under this name. */
  name: keyof R & string;
  title: string;
  /** Numbers stand right and are grouped; `money` has two places at least. Default: text. */
  kind?: 'text' | 'number' | 'money';
  /** The figure of `/figures` that says what this column means. */
  figure?: string;
  /** Whether the page can be sorted by it. */
  sortable?: boolean;
  /** Why a cell may be without a value. */
  whyNone?: string;
  /** How a cell is shown, where its value alone is not enough. */
  show?: (row: R) => Html;
}

export interface ShownTable<R = QueryRow> {
  /** Unique on its page; the CSV file is asked for under it. */
  name: string;
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  /** How many rows there are, shown or not; undefined where all are shown. */
  total?: number | undefined;
  /** Position of the first row that is shown, from 0. */
  first?: number;
  /** The query that gives these rows on this snapshot; undefined for what is live. */
  sql?: string | undefined;
  /** The command that tells the same; of a query, where nothing is said, `offerline sql` with it. */
  command?: string | undefined;
  /** How many rows its CSV file has at most. */
  mostInFile?: number;
  /** Said where there are no rows: what is missing, and the command that fills it. */
  empty: Html | string;
}

export const rowsPerPage = 100;
/** How many rows a CSV file has at most, where a table does not say. */
export const rowsPerFile = 100_000;

/** A table of a page, with its query, its command, its CSV file and its limit. */
export interface TablePart {
  name: string;
  /** On the page of that address. */
  markup(address: Address): Html;
  csv(): string;
}

export function table<R extends object>(shown: ShownTable<R>): TablePart {
  return {
    name: shown.name,
    markup: (address) => section(shown, address),
    csv: () =>
      csvOf(
        shown.columns.map(({ name }) => name),
        shown.rows as readonly QueryRow[],
      ),
  };
}

function section<R extends object>(shown: ShownTable<R>, address: Address): Html {
  const { name, caption, columns, rows } = shown;
  if (rows.length === 0)
    return html`<section class="table" id="${name}">
      <h2>${caption}</h2>
      <p class="empty">${noRows(shown, address)}</p>
      ${sources(shown, address)}
    </section>`;
  const places = columns.map((column) => placesOf(column, rows));
  const lines = rows.map((row) => html`<tr>${columns.map((column, at) => cell(column, row, places[at] ?? 0))}</tr>\n`);
  return html`<section class="table" id="${name}">
    <h2>${caption}</h2>
    <div class="scrolled" tabindex="0" role="region" aria-label="${caption}"><table>
      <thead><tr>${columns.map((column) => heading(column, address))}</tr></thead>
      <tbody>${lines}</tbody>
    </table></div>
    ${pages(shown, address)}${sources(shown, address)}
  </section>`;
}

/** Why there are none: in all, or from the row on that the address asks for. */
function noRows<R>({ first = 0, empty }: ShownTable<R>, address: Address): Html {
  if (first === 0) return html`${empty}`;
  const beginning = address.with({ from_row: undefined }).href;
  return html`There is no row ${figureText(first + 1)}. <a href="${beginning}">Show the first rows</a>`;
}

function heading<R>({ name, title, kind = 'text', figure: explained, sortable }: Column<R>, address: Address): Html {
  const [sorted, direction] = (address.get('sort') ?? '').split('.');
  const isSorted = sortable === true && sorted === name;
  const next = isSorted && direction === 'down' ? 'up' : 'down';
  const sortedBy = address.with({ sort: `${name}.${next}`, from_row: undefined }).href;
  const shown =
    sortable === true
      ? html`<a href="${sortedBy}">${title}${isSorted && html`<span aria-hidden="true"> ${direction === 'down' ? '↓' : '↑'}</span>`}</a>`
      : html`${title}`;
  const order = isSorted && html` aria-sort="${direction === 'down' ? 'descending' : 'ascending'}"`;
  const meaning =
    explained !== undefined &&
    html` <a class="meaning" href="/figures/${explained}" aria-label="What ${title} means">?</a>`;
  return html`<th scope="col" class="${kind}" data-column="${name}"${order}>${shown}${meaning}</th>`;
}

function cell<R extends object>({ name, kind = 'text', show, whyNone }: Column<R>, row: R, places: number): Html {
  const value = (row as QueryRow)[name] ?? null;
  const shown =
    show !== undefined
      ? show(row)
      : value === null && whyNone !== undefined
        ? unknown(whyNone)
        : valueOf(kind, value, places);
  return html`<td class="${kind}">${shown}</td>`;
}

function valueOf(kind: 'text' | 'number' | 'money', value: ColumnValue, places: number): Html {
  if (kind === 'text' || typeof value === 'object') return plainValue(value);
  return figure(value as number | string, places);
}

/** Digits behind the point that the numbers of a column have at most, so that all stand below one another. */
function placesOf<R extends object>({ name, kind = 'text' }: Column<R>, rows: readonly R[]): number {
  if (kind === 'text') return 0;
  const fractions = rows.map((row) => {
    const value = (row as QueryRow)[name];
    return typeof value === 'string' ? (value.split('.')[1] ?? '').replace(/0+$/, '').length : 0;
  });
  return Math.max(kind === 'money' ? 2 : 0, ...fractions);
}

/** What is shown of how much, and the ways to the rest. */
function pages<R>({ rows, total = rows.length, first = 0 }: ShownTable<R>, address: Address): Html {
  if (rows.length >= total && first === 0)
    return html`<p class="count">${figureText(total)} ${total === 1 ? 'row' : 'rows'}</p>`;
  const last = first + rows.length;
  return html`<p class="count">
    ${figureText(first + 1)} to ${figureText(last)} of ${figureText(total)} rows
    ${first > 0 && html`<a rel="prev" href="${address.with({ from_row: first <= rowsPerPage ? undefined : String(first - rowsPerPage) }).href}">previous</a>`}
    ${last < total && html`<a rel="next" href="${address.with({ from_row: String(last) }).href}">next</a>`}
  </p>`;
}

function sources<R>(shown: ShownTable<R>, address: Address): Html {
  const { name, sql, command, rows, total = rows.length, mostInFile = rowsPerFile } = shown;
  if (sql === undefined && command === undefined) return nothing;
  const cut = total > mostInFile && html`, the first ${figureText(mostInFile)} of ${figureText(total)} rows`;
  return html`<details class="sources">
    <summary>${sql === undefined ? 'Command' : 'SQL'}${rows.length > 0 ? ' and CSV' : ''}</summary>
    ${sql !== undefined && html`<pre class="sql" tabindex="0"><code>${sql}</code></pre>`}
    <p>On the command line: ${command === undefined ? html`<code>offerline sql</code> with this query` : html`<code>${command}</code>`}</p>
    ${rows.length > 0 && html`<p><a href="${address.with({ csv: name, from_row: undefined }).href}" download>Download as CSV</a>${cut}</p>`}
  </details>`;
}
