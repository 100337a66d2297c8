import type { Spec } from 'vega';
import type { Html } from '../html/html.ts';
import { chart, ink, timeFormat } from './chart.ts';

/** Something that happened, or is to happen, at a moment. Milliseconds since the epoch. */
export interface TimePoint {
  at: number;
  /** A few characters that stand above it. */
  name: string;
  kind: 'good' | 'bad' | 'plain' | 'to come';
}

/** As many names as can stand beside one another. */
const mostNames = 12;

const shapes = { good: 'circle', bad: 'triangle-up', plain: 'square', 'to come': 'diamond' } as const;

/** Moments on one axis of time, UTC; what is still to come is hollow. */
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
              signal: `datum.kind === 'to come' ? 'none' : datum.kind === 'bad' ? '${ink.bad}' : '${ink.accent}'`,
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

/** Names that would stand upon one another are left out but for the last of them; the points stay. */
function apart(points: readonly TimePoint[]): TimePoint[] {
  const times = points.map(({ at }) => at);
  const least = (Math.max(...times) - Math.min(...times)) / mostNames;
  let next = Infinity;
  return points
    .toSorted((one, other) => other.at - one.at)
    .map((point) => {
      if (next - point.at < least) return { ...point, name: '' };
      next = point.at;
      return point;
    });
}
