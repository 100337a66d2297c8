import type { Spec } from 'vega';
import type { Html } from '../../kit/html/html.ts';
import { chart, ink, timeFormat } from './chart.ts';

/** An event at a moment, past or planned. Milliseconds since the epoch. */
export interface TimePoint {
  at: number;
  /** A few characters above the point. */
  name: string;
  kind: 'good' | 'bad' | 'plain' | 'planned';
}

/** More names do not fit beside one another. */
const maxNames = 12;

const shapes = { good: 'circle', bad: 'triangle-up', plain: 'square', planned: 'diamond' } as const;

/** Points on one axis of time, UTC; planned ones are hollow. */
export async function timePoints(summary: string, points: readonly TimePoint[]): Promise<Html> {
  const spec: Spec = {
    width: 640,
    height: 40,
    data: [{ name: 'points', values: apart(points).map((point) => ({ ...point, shape: shapes[point.kind] })) }],
    scales: [{ name: 'x', type: 'utc', range: 'width', domain: { data: 'points', field: 'at' }, nice: true }],
    axes: [{ orient: 'bottom', scale: 'x', tickCount: 6, formatType: 'utc', format: timeFormat }],
    marks: [
      {
        type: 'symbol',
        from: { data: 'points' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'at' },
            y: { value: 28 },
            shape: { field: 'shape' },
            size: { value: 70 },
            fill: {
              signal: `datum.kind === 'planned' ? 'none' : datum.kind === 'bad' ? '${ink.bad}' : '${ink.accent}'`,
            },
            stroke: { signal: `datum.kind === 'bad' ? '${ink.bad}' : '${ink.accent}'` },
          },
        },
      },
      {
        type: 'text',
        from: { data: 'points' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'at' },
            y: { value: 14 },
            text: { field: 'name' },
            align: { value: 'center' },
            fill: { value: ink.text },
            font: { value: 'inherit' },
            fontSize: { value: 11 },
          },
        },
      },
    ],
  };
  return chart(summary, spec);
}

/** Removes names that would cover one another, but for the last of them; the points stay. */
function apart(points: readonly TimePoint[]): TimePoint[] {
  const times = points.map(({ at }) => at);
  const distance = (Math.max(...times) - Math.min(...times)) / maxNames;
  let next = Infinity;
  return points
    .toSorted((one, other) => other.at - one.at)
    .map((point) => {
      if (next - point.at < distance) return { ...point, name: '' };
      next = point.at;
      return point;
    });
}
