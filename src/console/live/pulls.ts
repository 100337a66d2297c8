import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { CronTimes } from '../../kit/time/cron-times.ts';
import { readSources } from '../../sources/config/sources-file.ts';
import { PullLedger } from '../../sources/pull-ledger.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';

/** A source of `sources.json`, without its secrets, and how its pulls stand. */
export interface SourcePulls {
  source: string;
  connector: string | null;
  /** When it is pulled, as a cron expression; null where only by hand. */
  times: string | null;
  /** The next of these times, UTC; a schedule that is not running lets it pass. */
  next_pull_at: string | null;
  last_pull: string | null;
  last_pull_at: string | null;
  last_whole_pull_at: string | null;
  /** Of the last whole pull. */
  records: number | null;
  conversion_lines: number | null;
  /** The landing file that it wrote; null where it held what the one before did. */
  file: string | null;
  /** Why the last pull failed. */
  error: string | null;
}

/** All sources by name. `now` in milliseconds since the epoch. Throws `UsageError` where `sources.json` is wrong. */
export function readPulls(data: DataDirectory, { schedule }: Pick<Settings, 'schedule'>, now: number): SourcePulls[] {
  const { sources } = readSources(data);
  if (sources.length === 0) return [];
  using ledger = PullLedger.existing(data);
  const newest = ledger?.newest();
  return sources.map(({ source, connector, every }) => {
    const { last, whole } = newest?.get(source) ?? {};
    // What only reports conversions is never pulled.
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
