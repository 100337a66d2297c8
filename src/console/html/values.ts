import type { ColumnValue } from '../../kit/duckdb/dialect/rows.ts';
import { html, type Html } from '../../kit/html/html.ts';

/**
 * A number for people, to the last digit, with thousands grouped. A program finds the exact value of the query in the
 * element's `value`.
 */
export function numberValue(exact: number | string, places = 0): Html {
  return html`<data value="${exact}">${shownNumber(exact, places)}</data>`;
}

/** Digits with commas between thousands; trailing zeros of the fraction only up to `places`. An exponent stays. */
export function shownNumber(exact: number | string, places = 0): string {
  if (/e/i.test(String(exact))) return String(exact);
  const [whole = '', fraction = ''] = String(exact).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const kept = fraction.replace(/0+$/, '').padEnd(places, '0');
  return kept === '' ? grouped : `${grouped}.${kept}`;
}

/** An amount of USD with two places; the rest is on hover. An amount that rounds to nothing is `< 0.01`. */
export function moneyValue(exact: number | string): Html {
  return roundedValue(exact, shownMoney(exact));
}

/** An amount with two places, such as `1,234.50`. */
export function shownMoney(exact: number | string): string {
  const text = rounded(exact, 2);
  return Number(text) === 0 && Number(exact) > 0 ? '< 0.01' : shownNumber(text, 2);
}

/** A ratio in per cent, with at most two places and at least `places`; the ratio is on hover. */
export function percentValue(ratio: number | string, places = 0): Html {
  return roundedValue(ratio, percentText(ratio, places));
}

/** A ratio in per cent, such as `66.67 %` for 0.666667. */
export function percentText(ratio: number | string, places = 0): string {
  const digits = rounded(ratio, 4).replace('.', '').padStart(5, '0');
  return `${shownNumber(`${digits.slice(0, -2).replace(/^(-?)0+(?=\d)/, '$1')}.${digits.slice(-2)}`, places)} %`;
}

/** The exact value is in the element's `value`, and on hover where the text has less of it. */
function roundedValue(exact: number | string, text: string): Html {
  const title = plainDigits(text) !== plainDigits(String(exact)) && html` title="${exact}"`;
  return html`<data value="${exact}"${title}>${text}</data>`;
}

function plainDigits(text: string): string {
  return text.includes('.') ? text.replaceAll(',', '').replace(/\.?0+$/, '') : text.replaceAll(',', '');
}

/** Digits with exactly `places` behind the point, rounded half away from zero. */
export function rounded(exact: number | string, places: number): string {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(exact)) ?? [];
  if (whole === undefined) return Number(exact).toFixed(places);
  const digits = BigInt(whole + fraction.padEnd(places + 1, '0').slice(0, places + 1));
  const text = ((digits + 5n) / 10n).toString().padStart(places + 1, '0');
  const point = text.length - places;
  return `${sign}${text.slice(0, point)}${places === 0 ? '' : `.${text.slice(point)}`}`;
}

/** A long id: the page shows its beginning, and copies, finds and links all of it. */
export function idText(id: string): Html {
  return html`<span class="id" title="${id}" data-copy>${id}</span>`;
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
export function linkTo(pages: LinkedPages, id: number | string, text: Html | number | string = id): Html {
  return html`<a href="/${pages}/${encodeURIComponent(String(id))}">${text}</a>`;
}

/** A link to the figures of a snapshot, which are there while it is kept. */
export function snapshotLink(id: string): Html {
  return html`<a href="/?snapshot=${encodeURIComponent(id)}">${id}</a>`;
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
