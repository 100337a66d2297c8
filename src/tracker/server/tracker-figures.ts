import type { RowLog } from '../logs/row-log.ts';
import type { RouteFollower } from '../routes/route-follower.ts';
import type { HistogramSample, Sample } from './tracker-metrics.ts';

export interface MeasuredTracker {
  logs: readonly RowLog[];
  routes: RouteFollower;
  unknown: Readonly<Record<'geo' | 'agent', number>>;
  overCap: number;
  isReady: boolean;
}

/** How the tracker stands at this moment, for `/metrics`. */
export function trackerFigures(
  { logs, routes, unknown, overCap, isReady }: MeasuredTracker,
  now: number,
): { samples: Sample[]; histograms: HistogramSample[] } {
  const samples: Sample[] = [
    {
      name: 'tracker_ready',
      help: 'Whether clicks can be recorded and led somewhere.',
      type: 'gauge',
      value: isReady ? 1 : 0,
    },
    {
      name: 'tracker_over_cap_total',
      help: 'Credits that were recorded although their offer had reached its daily cap.',
      type: 'counter',
      value: overCap,
    },
    ...Object.entries(unknown).map(([what, value]): Sample => ({
      name: 'tracker_unknown_total',
      help: 'Recorded clicks of which the country or the device is not known.',
      type: 'counter',
      labels: { what },
      value,
    })),
    {
      name: 'tracker_routes_refused',
      help: 'Files of routes that could not be used since the last good one.',
      type: 'gauge',
      value: routes.refused,
    },
  ];
  if (routes.current !== undefined) {
    const { as_of, offers } = routes.current.head;
    samples.push(
      { name: 'tracker_routes_offers', help: 'Offers in the routes, gone ones too.', type: 'gauge', value: offers },
      {
        name: 'tracker_routes_age_seconds',
        help: 'Time since the as-of of the snapshot that the routes are of.',
        type: 'gauge',
        value: Math.max(0, (now - Date.parse(as_of)) / 1000),
      },
    );
  }
  const perLog = logs.map((log) => ({ log, labels: { kind: log.kind } }));
  for (const { log, labels } of perLog) {
    samples.push({
      name: 'tracker_waiting_rows',
      help: 'Rows that are not on the disk yet.',
      type: 'gauge',
      labels,
      value: log.waiting,
    });
    samples.push({
      name: 'tracker_part_bytes',
      help: 'Size of the log that is written to now; 0 where there is none.',
      type: 'gauge',
      labels,
      value: log.part?.bytes ?? 0,
    });
    samples.push({
      name: 'tracker_part_age_seconds',
      help: 'Age of the log that is written to now; 0 where there is none.',
      type: 'gauge',
      labels,
      value: log.part === undefined ? 0 : Math.max(0, (now - log.part.openedAt) / 1000),
    });
  }
  const histograms = perLog.flatMap(({ log, labels }): HistogramSample[] => [
    {
      name: 'tracker_append_seconds',
      help: 'Time from the beginning of a batch to its promise: with durability power, what the disk takes.',
      labels,
      histogram: log.appendSeconds,
    },
    {
      name: 'tracker_sync_seconds',
      help: 'Time that forcing a log to the disk took: in durability process each second, else as it is handed over.',
      labels,
      histogram: log.syncSeconds,
    },
    { name: 'tracker_batch_rows', help: 'Rows that went to the disk together.', labels, histogram: log.batchRows },
  ]);
  return { samples: samples.toSorted((one, other) => one.name.localeCompare(other.name)), histograms };
}
