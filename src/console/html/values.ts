import type { ColumnValue } from '../../kit/duckdb/dialect/rows.ts';
import { html, type Html } from './html.ts';

/**
 * A number as people read it, to the last digit: thousands apart, money with two places at least. `exact` is what the
 * query gave, which a machine finds in the element's `value`.
 */
export function figure(exact: number | string | null, places = 0): Html {
  return exact === null ? unknown('not known') : html`<data value="${exact}">${figureText(exact, places)}</data>`;
}

/** Digits with commas between thousands, and zeros behind the point only where `places` ask for them. */
export function figureText(exact: number | string, places = 0): string {
  const [whole = '', fraction = ''] = String(exact).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const kept = fraction.replace(/0+$/, '').padEnd(places, '0');
  return kept === '' ? grouped : `${grouped}.${kept}`;
}

/** What is not known is no zero: a dash, and why. */
export function unknown(why: string): Html {
  return html`<span class="unknown" title="${why}">–<span class="spoken"> ${why}</span></span>`;
}

/** A moment of UTC to the second; the whole one is in the element. */
export function moment(exact: string | null, otherwise = 'not yet'): Html {
  if (exact === null) return unknown(otherwise);
  return html`<time datetime="${exact}">${exact.slice(0, 10)} ${exact.slice(11, 19)}</time>`;
}

/** A state by word, shape and colour: it is read by those who see no colours, too. */
export function state(word: string, kind: 'good' | 'waiting' | 'bad' | 'quiet'): Html {
  const shapes = { good: '●', waiting: '◐', bad: '▲', quiet: '○' };
  return html`<span class="state ${kind}"><span aria-hidden="true">${shapes[kind]}</span> ${word}</span>`;
}

/** Any value of a query where nothing better is known of its column. */
export function plainValue(value: ColumnValue): Html {
  if (value === null) return unknown('none');
  if (typeof value === 'number') return figure(value);
  if (typeof value === 'object') return html`${JSON.stringify(value)}`;
  return html`${String(value)}`;
}
