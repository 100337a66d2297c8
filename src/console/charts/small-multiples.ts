import { area, line } from 'd3-shape';
import { shownNumber } from '../html/values.ts';
import { html, type Html } from '../../kit/html/html.ts';

/** A line that is compared with others. */
export interface Multiple {
  name: string;
  /** The page with more about it. */
  href: string;
  values: readonly number[];
}

const width = 180;
const height = 48;
const margin = 3;

/** Small charts on one scale from zero; each has its greatest and its last value as text, too. */
export function smallMultiples(
  { title, caption, isRunning = false }: { title: string; caption: string; isRunning?: boolean },
  multiples: readonly Multiple[],
): Html {
  const greatest = Math.max(0, ...multiples.flatMap(({ values }) => values));
  const lastDay = isRunning ? 'today so far' : 'on the last day';
  return html`<figure class="small-multiples">
    <h2>${title}</h2>
    <figcaption>${caption}: up to ${shownNumber(rounded(greatest, 2))}</figcaption>
    <ul>
      ${multiples.map(({ name, href, values }) => {
        const most = shownNumber(rounded(Math.max(0, ...values), 2));
        const last = shownNumber(rounded(values.at(-1) ?? 0, 2));
        return html`<li>
          <a href="${href}">${name}</a>${picture(`${name}: ${most} at most, ${last} ${lastDay}`, values, greatest, isRunning)}
          <span class="quiet">${last} ${lastDay}, ${most} at most</span>
        </li> `;
      })}
    </ul>
  </figure>`;
}

function picture(summary: string, values: readonly number[], greatest: number, isRunning: boolean): Html {
  const x = (_value: number, index: number) =>
    rounded(margin + (index * (width - 2 * margin)) / Math.max(1, values.length - 1));
  const y = (value: number) =>
    rounded(height - margin - (greatest === 0 ? 0 : (value / greatest) * (height - 2 * margin)));
  const over = isRunning ? values.slice(0, -1) : [...values];
  const lastIndex = values.length - 1;
  const last = values[lastIndex] ?? 0;
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
        .y1(y)(over) ?? ''
    }" />
    <path class="line" d="${line<number>().x(x).y(y)(over) ?? ''}" />
    ${
      isRunning &&
      lastIndex > 0 &&
      html`<path class="line running" d="M${x(0, lastIndex - 1)},${y(values[lastIndex - 1] ?? 0)}L${x(0, lastIndex)},${y(last)}" /><circle
          class="hollow"
          cx="${x(0, lastIndex)}"
          cy="${y(last)}"
          r="2.5"
        />`
    }
  </svg>`;
}

function rounded(value: number, places = 1): number {
  return Math.round(value * 10 ** places) / 10 ** places;
}
