import { area, line } from 'd3-shape';
import { html, nothing, type Html } from '../../kit/html/html.ts';
import { counted } from '../../kit/text/counted.ts';
import { shownMoney, shownNumber } from '../html/values.ts';

export interface TimedValue {
  /** UTC, as RFC 3339 or a day. */
  at: string;
  /** Null where it is unknown, such as before the first known day: the line has a gap there. */
  value: number | null;
}

export interface LineChartOptions {
  title: string;
  /** Says in a sentence what the chart shows, for readers who do not see it; a table of the page has the numbers. */
  summary: string;
  unit: 'USD' | 'clicks';
  values: readonly TimedValue[];
  /** Values of an earlier period, one for each of `values`; their line is dashed. */
  before?: readonly TimedValue[];
  /** The last value is of a day that is not over. */
  isRunning?: boolean;
}

/** All charts have the same plot, so that those beside one another are aligned. */
const width = 560;
const height = 190;
const plot = { left: 52, right: width - 12, top: 24, bottom: height - 24 };
const maxLabels = 7;

/** A line over time on a scale from zero, drawn without a script; the value under the pointer shows on top. */
export function lineChart({ title, summary, unit, values, before = [], isRunning = false }: LineChartOptions): Html {
  const known = [...values, ...before].flatMap(({ value }) => (value === null ? [] : [value]));
  const ticks = ticksUpTo(Math.max(0, ...known));
  const top = ticks.at(-1) ?? 1;
  const step = (plot.right - plot.left) / Math.max(1, values.length - 1);
  const x = (index: number) => tenth(plot.left + index * step);
  const y = (value: number) => tenth(plot.bottom - (value / top) * (plot.bottom - plot.top));
  const draw = line<TimedValue>()
    .defined(({ value }) => value !== null)
    .x((_point, index) => x(index))
    .y(({ value }) => y(value ?? 0));
  const shade = area<TimedValue>()
    .defined(({ value }) => value !== null)
    .x((_point, index) => x(index))
    .y0(plot.bottom)
    .y1(({ value }) => y(value ?? 0));
  const last = values.length - 1;
  const over = isRunning ? values.slice(0, -1) : [...values];
  const lastValue = values[last]?.value ?? null;
  const beforeLast = values[last - 1]?.value ?? null;
  return html`<figure class="chart line-chart">
    <h2>${title}</h2>
    <div role="img" aria-label="${summary}">
      <svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true" focusable="false">
        ${ticks.map((tick) => html`<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${y(tick)}" y2="${y(tick)}" /><text x="${plot.left - 6}" y="${y(tick) + 4}" text-anchor="end">${compact(tick)}</text>`)}
        ${timeLabels(values, x)}
        <path class="area" d="${shade(over) ?? ''}" />
        ${before.some(({ value }) => value !== null) && html`<path class="before" d="${draw([...before]) ?? ''}" />`}
        <path d="${draw(over) ?? ''}" />
        ${
          isRunning &&
          lastValue !== null &&
          html`${beforeLast !== null && html`<path class="running" d="M${x(last - 1)},${y(beforeLast)}L${x(last)},${y(lastValue)}" />`}<circle class="hollow" cx="${x(last)}" cy="${y(lastValue)}" r="3.5" />`
        }
        ${values.map((point, index) => hoverPoint(point, before[index], { x: x(index), y, step, unit, isRunning: isRunning && index === last }))}
      </svg>
    </div>
    <figcaption>${summary}</figcaption>
  </figure>`;
}

/** The part of a chart that a pointer is over, with what it shows then. */
function hoverPoint(
  { at, value }: TimedValue,
  before: TimedValue | undefined,
  {
    x,
    y,
    step,
    unit,
    isRunning,
  }: { x: number; y: (value: number) => number; step: number; unit: LineChartOptions['unit']; isRunning: boolean },
): Html {
  if (value === null) return nothing;
  const shown = (each: number) => (unit === 'USD' ? `${shownMoney(each)} USD` : counted(each, 'click'));
  const earlier = before?.value ?? null;
  const text = `${momentLabel(at)}: ${shown(value)}${isRunning ? ' so far' : ''}${earlier === null ? '' : `, a week before ${shown(earlier)}`}`;
  return html`<g class="point"><rect class="hit" x="${tenth(x - step / 2)}" y="0" width="${tenth(step)}" height="${height}" /><line class="rule on-hover" x1="${x}" x2="${x}" y1="${plot.top}" y2="${plot.bottom}" /><circle class="on-hover" cx="${x}" cy="${y(value)}" r="3.5" /><text class="readout on-hover" x="${plot.left}" y="14">${text}</text></g>`;
}

/** Labels of days, or of hours with the day at midnight; every second one is left out where there is no room. */
function timeLabels(values: readonly TimedValue[], x: (index: number) => number): Html {
  const isHourly = values[0]?.at.includes('T') === true;
  const every = isHourly ? 12 : Math.max(1, Math.ceil(values.length / maxLabels));
  const labelled = values.flatMap(({ at }, index) => {
    // Days are counted from the last one on, which people look for.
    const isLabelled = isHourly ? Number(at.slice(11, 13)) % every === 0 : (values.length - 1 - index) % every === 0;
    return isLabelled ? [{ at, index }] : [];
  });
  return html`${labelled.map(({ at, index }, place) => {
    const label = isHourly && at.slice(11, 13) !== '00' ? at.slice(11, 16) : dayLabel(at);
    const minor = (labelled.length - 1 - place) % 2 === 1 && html` class="minor"`;
    return html`<text x="${x(index)}" y="${height - 6}" text-anchor="${index === values.length - 1 ? 'end' : 'middle'}"${minor}>${label}</text>`;
  })}`;
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

function dayLabel(at: string): string {
  return dayFormat.format(new Date(at));
}

function momentLabel(at: string): string {
  return at.includes('T') ? `${dayLabel(at)} ${at.slice(11, 16)}` : dayLabel(at);
}

/** Three to five round numbers from 0 up to one that is not below the greatest value. */
function ticksUpTo(greatest: number): number[] {
  if (greatest <= 0) return [0, 1];
  const magnitude = 10 ** Math.floor(Math.log10(greatest / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((each) => each * 4 >= greatest) ?? greatest;
  return Array.from({ length: Math.ceil(greatest / step) + 1 }, (_none, index) =>
    Number((index * step).toPrecision(12)),
  );
}

/** A number of an axis, such as `1.5k`. */
function compact(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  return value >= 1e4 ? `${Number((value / 1e3).toPrecision(3))}k` : shownNumber(value);
}

function tenth(length: number): number {
  return Math.round(length * 10) / 10;
}
