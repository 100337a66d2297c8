import { area, line } from 'd3-shape';
import { numberText } from '../html/values.ts';
import { html, type Html } from '../html/html.ts';

/** A line that is compared with others. */
export interface Multiple {
  name: string;
  /** The page with more about it. */
  href: string;
  values: readonly number[];
}

const width = 180;
const height = 48;
const margin = 2;

/**
 * Small charts on one scale from zero; each has its content as a sentence, too.
 */
export function smallMultiples(caption: string, multiples: readonly Multiple[]): Html {
  const greatest = Math.max(0, ...multiples.flatMap(({ values }) => values));
  return html`<figure class="small-multiples">
    <figcaption>${caption}: up to ${numberText(rounded(greatest, 2))}</figcaption>
    <ul>
      ${multiples.map(
        ({ name, href, values }) => html`<li><a href="${href}">${name}</a>${picture(name, values, greatest)}</li> `,
      )}
    </ul>
  </figure>`;
}

function picture(name: string, values: readonly number[], greatest: number): Html {
  const x = (_value: number, index: number) =>
    rounded(margin + (index * (width - 2 * margin)) / Math.max(1, values.length - 1));
  const y = (value: number) =>
    rounded(height - margin - (greatest === 0 ? 0 : (value / greatest) * (height - 2 * margin)));
  const last = values.at(-1) ?? 0;
  const summary = `${name}: ${numberText(rounded(Math.max(0, ...values), 2))} at most, ${numberText(rounded(last, 2))} on the last day`;
  const drawn = [...values];
  return html`<svg
    class="multiple"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label="${summary}"
  >
    <path class="area" d="${
      area<number>()
        .x(x)
        .y0(height - margin)
        .y1(y)(drawn) ?? ''
    }" />
    <path class="line" d="${line<number>().x(x).y(y)(drawn) ?? ''}" />
  </svg>`;
}

function rounded(value: number, places = 1): number {
  return Math.round(value * 10 ** places) / 10 ** places;
}
