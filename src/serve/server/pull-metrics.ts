import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { pulledSources, readSources } from '../../sources/config/sources-file.ts';
import { PullLedger } from '../../sources/pull-ledger.ts';
import { dateOf } from '../../kit/time/moment.ts';
import type { Metrics } from '../../kit/metrics/metrics.ts';

/** Measures how old the last whole pull of each source is; none where `sources.json` cannot be used. */
export function measurePulls(metrics: Metrics, data: DataDirectory, now: () => number): void {
  metrics.gauges(
    'offerline_source_last_whole_pull_age_seconds',
    'Time since the last whole pull of each source of sources.json; infinite where there was none.',
    ['source'],
    () => {
      const pulled = pulledNames(data);
      if (pulled.length === 0) return [];
      // `status` reports a damaged one.
      const newest = PullLedger.read(
        data,
        (ledger) => ledger.newest(),
        () => undefined,
      );
      return pulled.map((source) => {
        const at = newest?.get(source)?.whole?.finished_at;
        const value = at === undefined || at === null ? Infinity : (now() - dateOf(at).getTime()) / 1000;
        return { labels: { source }, value };
      });
    },
  );
}

function pulledNames(data: DataDirectory): string[] {
  try {
    return pulledSources(readSources(data).sources).map(({ source }) => source);
  } catch {
    // `status` reports the mistake in it.
    return [];
  }
}
