import type { Spec } from 'vega';
import type { Html } from '../../kit/html/html.ts';
import { chart, ink } from './chart.ts';

export interface Duration {
  /** The label, such as a run's number. Bars are in the order of the list. */
  name: string;
  seconds: number;
  failed: boolean;
}

const width = 640;
/** Few bars do not fill the chart. */
const maxBarWidth = 32;

/** Durations side by side; a failed one has a triangle above its bar. */
export async function durationBars(summary: string, durations: readonly Duration[]): Promise<Html> {
  const names = durations.map(({ name }) => name);
  // At most twelve names fit below the axis.
  const step = Math.ceil(names.length / 12);
  const spec: Spec = {
    width,
    height: 120,
    data: [
      { name: 'runs', values: durations.map((each) => ({ ...each })) },
      { name: 'failures', source: 'runs', transform: [{ type: 'filter', expr: 'datum.failed' }] },
    ],
    scales: [
      {
        name: 'x',
        type: 'band',
        range: [0, Math.min(width, maxBarWidth * names.length)],
        paddingInner: names.length > 120 ? 0 : 0.2,
        domain: names,
      },
      {
        name: 'y',
        type: 'linear',
        range: 'height',
        zero: true,
        nice: true,
        domain: { data: 'runs', field: 'seconds' },
      },
    ],
    axes: [
      { orient: 'bottom', scale: 'x', values: names.filter((_name, index) => index % step === 0), ticks: false },
      { orient: 'left', scale: 'y', tickCount: 4, grid: true, domain: false, ticks: false, title: 'seconds' },
    ],
    marks: [
      {
        type: 'rect',
        from: { data: 'runs' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'name' },
            width: { scale: 'x', band: 1 },
            y: { scale: 'y', field: 'seconds' },
            y2: { scale: 'y', value: 0 },
            fill: { signal: `datum.failed ? '${ink.bad}' : '${ink.accent}'` },
          },
        },
      },
      {
        type: 'symbol',
        from: { data: 'failures' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'name', band: 0.5 },
            y: { scale: 'y', field: 'seconds', offset: -6 },
            shape: { value: 'triangle-up' },
            size: { value: 40 },
            fill: { value: ink.bad },
          },
        },
      },
    ],
  };
  return chart(summary, spec);
}
