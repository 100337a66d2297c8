import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { pulledSources, readSources } from '../../sources/config/sources-file.ts';
import { PullLedger, type Pull } from '../../sources/pull-ledger.ts';
import { dateOf, type Moment } from '../../kit/time/moment.ts';

/** How the pulls of one source stand. */
export interface SourceReport {
  source: string;
  /** When its newest whole pull ended; null where there was none. */
  last_whole_pull_at: Moment | null;
  age_seconds: number | null;
  /** Of its newest pull; null where there was none. */
  last_pull: Pull['status'] | null;
  error: string | null;
  /** Its process died: nobody knows how far it came. */
  ended_by_force: boolean;
}

/**
 * The sources of `sources.json` that are pulled. `now` in milliseconds since the epoch. Throws `UsageError` where the
 * file cannot be used.
 */
export function readSourceReports(data: DataDirectory, now: number): SourceReport[] {
  const pulled = pulledSources(readSources(data).sources);
  if (pulled.length === 0) return [];
  using ledger = PullLedger.existing(data);
  const newest = ledger?.newest();
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
