import type { Spec } from 'vega';
import type { Html } from '../html/html.ts';
import { chart, ink, timeFormat } from './chart.ts';

export interface TimedValue {
  /** UTC, as RFC 3339 or a day. */
  at: string;
  value: number;
}

/** A line over time, with the line of an earlier period where `before` is given, on a scale from zero. */
export async function lineChart(
  summary: string,
  {
    values,
    before = [],
    format = ',f',
  }: { values: readonly TimedValue[]; before?: readonly TimedValue[]; format?: string },
): Promise<Html> {
  const data = [
    ...before.map((point) => ({ ...point, line: 'before' })),
    ...values.map((point) => ({ ...point, line: 'now' })),
  ].map(({ at, ...point }) => ({ ...point, at: Date.parse(at) }));
  const spec: Spec = {
    width: 640,
    height: 150,
    data: [{ name: 'points', values: data }],
    scales: [
      { name: 'x', type: 'utc', range: 'width', domain: { data: 'points', field: 'at' } },
      {
        name: 'y',
        type: 'linear',
        range: 'height',
        zero: true,
        nice: true,
        domain: { data: 'points', field: 'value' },
      },
      { name: 'colour', type: 'ordinal', domain: ['before', 'now'], range: [ink.before, ink.accent] },
    ],
    axes: [
      { orient: 'bottom', scale: 'x', tickCount: 8, formatType: 'utc', format: timeFormat },
      { orient: 'left', scale: 'y', tickCount: 4, grid: true, format, domain: false, ticks: false },
    ],
    marks: [
      {
        type: 'group',
        from: { facet: { name: 'line', data: 'points', groupby: 'line' } },
        marks: [
          {
            type: 'line',
            from: { data: 'line' },
            encode: {
              enter: {
                x: { scale: 'x', field: 'at' },
                y: { scale: 'y', field: 'value' },
                stroke: { scale: 'colour', field: 'line' },
                strokeWidth: { value: 1.5 },
                strokeDash: { signal: "datum.line === 'before' ? [3, 3] : []" },
              },
            },
          },
        ],
      },
    ],
  };
  return chart(summary, spec);
}
