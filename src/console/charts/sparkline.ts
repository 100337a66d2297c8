import { line } from 'd3-shape';
import { html, type Html } from '../html/html.ts';

const width = 90;
const height = 20;
const margin = 3;

/**
 * A small line beside a number, with its greatest and its last value marked; `greatest` puts several on one scale.
 * `summary` says the same in a sentence.
 */
export function sparkline(values: readonly number[], summary: string, greatest = Math.max(...values, 0)): Html {
  if (values.length < 2) return html``;
  const x = (index: number) => margin + (index * (width - 2 * margin)) / (values.length - 1);
  const y = (value: number) => height - margin - (greatest === 0 ? 0 : (value / greatest) * (height - 2 * margin));
  const path = line<number>()
    .x((_value, index) => round(x(index)))
    .y((value) => round(y(value)))(values);
  const highest = values.indexOf(Math.max(...values));
  const last = values.length - 1;
  return html`<svg
    class="sparkline"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label="${summary}"
  >
    <path d="${path ?? ''}" />
    <circle class="highest" cx="${round(x(highest))}" cy="${round(y(values[highest] ?? 0))}" r="1.5" />
    <circle cx="${round(x(last))}" cy="${round(y(values[last] ?? 0))}" r="2" />
  </svg>`;
}

function round(length: number): number {
  return Math.round(length * 10) / 10;
}
