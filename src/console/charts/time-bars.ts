import type { Spec } from 'vega';
import type { Html } from '../../kit/html/html.ts';
import { chart, ink } from './chart.ts';

/** A span of time, in milliseconds since the epoch. */
export interface TimeBar {
  name: string;
  from: number;
  to: number;
  failed: boolean;
}

const height = 22;
/** A shorter bar could not be seen. Pixels. */
const minWidth = 2;

/** Spans below one another (a Gantt chart), on one scale of seconds since the first. */
export async function timeBars(summary: string, bars: readonly TimeBar[]): Promise<Html> {
  const start = Math.min(...bars.map(({ from }) => from));
  const values = bars.map(({ name, from, to, failed }) => ({
    name: `${failed ? '▲ ' : ''}${name}`,
    from: (from - start) / 1000,
    to: (to - start) / 1000,
    failed,
  }));
  const spec: Spec = {
    width: 560,
    height: height * bars.length,
    data: [{ name: 'bars', values }],
    scales: [
      { name: 'x', type: 'linear', range: 'width', zero: true, nice: true, domain: { data: 'bars', field: 'to' } },
      { name: 'y', type: 'band', range: 'height', padding: 0.3, domain: values.map(({ name }) => name) },
    ],
    axes: [
      { orient: 'bottom', scale: 'x', tickCount: 6, grid: true, title: 'seconds' },
      { orient: 'left', scale: 'y', domain: false, ticks: false },
    ],
    marks: [
      {
        type: 'rect',
        from: { data: 'bars' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'from' },
            width: { signal: `max(${minWidth}, scale('x', datum.to) - scale('x', datum.from))` },
            y: { scale: 'y', field: 'name' },
            height: { scale: 'y', band: 1 },
            fill: { signal: `datum.failed ? '${ink.bad}' : '${ink.accent}'` },
          },
        },
      },
    ],
  };
  return chart(summary, spec);
}
