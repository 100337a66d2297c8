import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { pulledSources, readSources } from '../../sources/config/sources-file.ts';
import { PullLedger, type Pull } from '../../sources/pull-ledger.ts';
import { dateOf, type Moment } from '../../kit/time/moment.ts';

/** State of the pulls of one source. */
export interface SourceReport {
  source: string;
  /** End of its newest whole pull; null without one. */
  last_whole_pull_at: Moment | null;
  age_seconds: number | null;
  /** Status of its newest pull; null without one. */
  last_pull: Pull['status'] | null;
  error: string | null;
  /** The process of the newest pull died. */
  ended_by_force: boolean;
}

/**
 * Returns the state of the sources that are pulled. `now` in milliseconds since the epoch. Throws `UsageError` where
 * `sources.json` cannot be used, `DamagedPullsError` for a damaged ledger of pulls.
 */
export function readSourceReports(data: DataDirectory, now: number): SourceReport[] {
  const pulled = pulledSources(readSources(data).sources);
  if (pulled.length === 0) return [];
  const newest = PullLedger.read(data, (ledger) => ledger.newest());
  return pulled.map(({ source }) => {
    const pulls = newest?.get(source);
    const at = pulls?.whole?.finished_at ?? null;
    return {
      source,
      last_whole_pull_at: at,
      age_seconds: at === null ? null : Math.max(0, Math.round((now - dateOf(at).getTime()) / 1000)),
      last_pull: pulls?.last.status ?? null,
      error: pulls?.last.error ?? null,
      ended_by_force: pulls?.last.status === 'interrupted' && pulls.last.finished_at === null,
    };
  });
}
