import type { ColumnValue } from '../../kit/duckdb/dialect/rows.ts';
import { html, type Html } from './html.ts';

/**
 * A number for people, to the last digit: thousands grouped, money with at least two places. A program finds the exact
 * value of the query in the element's `value`.
 */
export function numberValue(exact: number | string, places = 0): Html {
  return html`<data value="${exact}">${numberText(exact, places)}</data>`;
}

/** Digits with commas between thousands; trailing zeros of the fraction only up to `places`. */
export function numberText(exact: number | string, places = 0): string {
  const [whole = '', fraction = ''] = String(exact).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const kept = fraction.replace(/0+$/, '').padEnd(places, '0');
  return kept === '' ? grouped : `${grouped}.${kept}`;
}

/** A dash in place of a value that is not there, with the reason: an unknown number is not 0. */
export function missing(reason: string): Html {
  return html`<span class="unknown" title="${reason}">–<span class="spoken"> ${reason}</span></span>`;
}

/** A moment of UTC to the second; the element has it to the microsecond. */
export function moment(exact: string | null, reasonIfNone = 'not yet'): Html {
  if (exact === null) return missing(reasonIfNone);
  return html`<time datetime="${exact}">${momentText(exact)}</time>`;
}

/** A moment to the second, such as `2026-11-18 10:00:00`. */
export function momentText(exact: string): string {
  return `${exact.slice(0, 10)} ${exact.slice(11, 19)}`;
}

/** A text, or a dash with the reason where there is none. */
export function textOrMissing(text: number | string | null, reason: string): Html {
  return text === null ? missing(reason) : html`${text}`;
}

/** A value of a column that has no kind. */
export function plainValue(value: ColumnValue): Html {
  if (value === null) return missing('none');
  if (typeof value === 'number') return numberValue(value);
  return html`${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;
}

/** Folders of the console's addresses that have a page for each id. */
export type LinkedPages =
  'actions' | 'clicks' | 'figures' | 'files' | 'offers' | 'postbacks' | 'runs' | 'sites' | 'tables';

/** A link to the page of one thing, such as `/runs/17`. */
export function linkTo(pages: LinkedPages, id: number | string, text: number | string = id): Html {
  return html`<a href="/${pages}/${encodeURIComponent(String(id))}">${text}</a>`;
}

/** Terms with their values, one below the other; a term without a value (false) is left out. */
export function facts(pairs: readonly (readonly [term: string, value: Html | string | false])[]): Html {
  return html`<dl class="facts">
    ${pairs.map(
      ([term, value]) =>
        value !== false &&
        html`<dt>${term}</dt>
          <dd>${value}</dd> `,
    )}
  </dl>`;
}

/** Seconds from one moment to another, with a tenth. */
export function secondsBetween(from: string, to: string | number): number {
  const end = typeof to === 'number' ? to : Date.parse(to);
  return Math.max(0, Math.round((end - Date.parse(from)) / 100) / 10);
}
