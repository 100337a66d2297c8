import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { CronTimes } from '../../kit/time/cron-times.ts';
import { readSources } from '../../sources/config/sources-file.ts';
import { PullLedger } from '../../sources/pull-ledger.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';

/** A source of `sources.json`, without its secrets, with its last and next pull. */
export interface SourcePulls {
  source: string;
  connector: string | null;
  /** The cron expression of its pulls; null where it is pulled by hand only. */
  times: string | null;
  /** The next of these times, UTC; it passes unused while no schedule runs. */
  next_pull_at: string | null;
  last_pull: string | null;
  last_pull_at: string | null;
  last_whole_pull_at: string | null;
  /** Counts of the last whole pull. */
  records: number | null;
  conversion_lines: number | null;
  /** The landing file that it wrote; null where the content was that of the pull before. */
  file: string | null;
  /** The error of the last pull. */
  error: string | null;
}

/**
 * Returns all sources by name. `now` in milliseconds since the epoch. Throws `UsageError` where `sources.json` is
 * wrong, `DamagedPullsError` for a damaged ledger of pulls.
 */
export function readPulls(data: DataDirectory, { schedule }: Pick<Settings, 'schedule'>, now: number): SourcePulls[] {
  const { sources } = readSources(data);
  if (sources.length === 0) return [];
  const newest = PullLedger.read(data, (ledger) => ledger.newest());
  return sources.map(({ source, connector, every }) => {
    const { last, whole } = newest?.get(source) ?? {};
    // A source without a connector only reports conversions.
    const times = connector === undefined ? null : (every ?? schedule.pull?.cron ?? null);
    const next = times === null ? undefined : new CronTimes(times, `sources.json: every of ${source}`).next(now);
    return {
      source,
      connector: connector ?? null,
      times,
      next_pull_at: next === undefined ? null : momentOfMilliseconds(next),
      last_pull: last?.status ?? null,
      last_pull_at: last?.started_at ?? null,
      last_whole_pull_at: whole?.finished_at ?? null,
      records: whole?.records ?? null,
      conversion_lines: whole?.conversion_lines ?? null,
      file: whole?.file ?? null,
      error: last?.error ?? null,
    };
  });
}
