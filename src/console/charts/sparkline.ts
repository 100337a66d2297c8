import { area, line } from 'd3-shape';
import { html, type Html } from '../../kit/html/html.ts';

const width = 90;
const height = 20;
const margin = 3;

/**
 * A small line beside a number, with its greatest and its last value marked; `greatest` puts several on one scale.
 * `summary` says the same in a sentence. A value that is unknown is null; `isRunning` where the last is of a day that
 * is not over.
 */
export function sparkline(
  values: readonly (number | null)[],
  summary: string,
  { greatest, isRunning = false }: { greatest?: number; isRunning?: boolean } = {},
): Html {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return html``;
  const top = greatest ?? Math.max(...known, 0);
  const x = (index: number) => round(margin + (index * (width - 2 * margin)) / (values.length - 1));
  const y = (value: number | null) =>
    round(height - margin - (top === 0 ? 0 : ((value ?? 0) / top) * (height - 2 * margin)));
  const isKnown = (value: number | null) => value !== null;
  const path = line<number | null>()
    .defined(isKnown)
    .x((_value, index) => x(index))
    .y(y);
  const shade = area<number | null>()
    .defined(isKnown)
    .x((_value, index) => x(index))
    .y0(height - margin)
    .y1(y);
  const highest = values.indexOf(Math.max(...known));
  const last = values.length - 1;
  return html`<svg
    class="sparkline"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${summary}"
  >
    <path class="area" d="${shade([...values]) ?? ''}" />
    <path d="${path([...values]) ?? ''}" vector-effect="non-scaling-stroke" />
    <circle class="highest" cx="${x(highest)}" cy="${y(values[highest] ?? 0)}" r="1.5" />
    <circle${isRunning && html` class="hollow"`} cx="${x(last)}" cy="${y(values[last] ?? 0)}" r="2" />
  </svg>`;
}

function round(length: number): number {
  return Math.round(length * 10) / 10;
}
