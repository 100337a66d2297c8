import { html, type Html, type HtmlValue } from '../../kit/html/html.ts';

/** A column of a table: its heading, and the cell of a row. */
export interface PortalColumn<Row> {
  title: string;
  cell: (row: Row) => HtmlValue;
  /** Digits, which are aligned to the right. */
  isNumber?: boolean;
}

export function portalTable<Row>(
  caption: string,
  columns: readonly PortalColumn<Row>[],
  rows: readonly Row[],
  { empty, total }: { empty: string; total?: Row | undefined },
): Html {
  if (rows.length === 0) return html`<p>${empty}</p>`;
  const classOf = ({ isNumber }: PortalColumn<Row>) => isNumber === true && html` class="number"`;
  const line = (row: Row) =>
    html`<tr>
      ${columns.map((column) => html`<td${classOf(column)}>${column.cell(row)}</td>`)}
    </tr>`;
  return html`<div class="rows" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col"${classOf(column)}>${column.title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(line)}
      </tbody>
      ${total !== undefined && html`<tfoot>${line(total)}</tfoot>`}
    </table>
  </div>`;
}

/** A field of a form that filters. */
export interface PortalFilter {
  name: string;
  title: string;
  /** Words to choose from, and any of them; without them any text. */
  words?: readonly string[];
  /** The word that holds where none is chosen, instead of any. */
  otherwise?: string;
  type?: 'date';
}

/** A form that asks the same page again with what was filled in. */
export function portalFilters(
  path: string,
  filters: readonly PortalFilter[],
  asked: Readonly<Record<string, string>>,
): Html {
  return html`<form class="filters" action="${path}">
    ${filters.map(
      ({ name, title, words, otherwise, type = 'text' }) =>
        html`<label
          >${title}
          ${
            words === undefined
              ? html`<input type="${type}" name="${name}" value="${asked[name] ?? ''}" maxlength="256" />`
              : html`<select name="${name}">
                ${otherwise === undefined && html`<option value="">any</option>`}
                ${words.map((word) => html`<option${(asked[name] ?? otherwise) === word && html` selected`}>${word}</option>`)}
              </select>`
          }</label
        > `,
    )}
    <button>Show</button>
  </form>`;
}

/** A link to the page behind this one; nothing where there is none. */
export function nextPage(
  path: string,
  asked: Readonly<Record<string, string>>,
  next: object | undefined,
): Html | false {
  if (next === undefined) return false;
  const query = new URLSearchParams({ ...asked, ...next } as Record<string, string>);
  return html`<p><a href="${path}?${query.toString()}">Next page</a></p>`;
}

/** A moment to the second; the element has it whole. */
export function portalMoment(exact: string | null): HtmlValue {
  return exact === null ? '–' : html`<time datetime="${exact}">${exact.slice(0, 10)} ${exact.slice(11, 19)}</time>`;
}

/** Digits with commas between thousands; a dash for what is not there. */
export function portalNumber(value: number | null): string {
  return value === null ? '–' : String(value).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
}
