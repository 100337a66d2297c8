import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readFutureEffective, type FutureEffective } from '../runs/future-effective.ts';
import { readAnalytics, type AskAnalytics } from '../snapshot/read-analytics.ts';
import { endOfPresent } from '../../kit/time/ahead-of-clock.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';
import { momentOfMilliseconds, shiftMoment, type Moment } from '../../kit/time/moment.ts';

/** Part of the status that the published snapshot has: files and reports. */
export interface PublishedStatus {
  /** Newest events up to now: a later one does not show how fresh its log is. */
  newest: { data: string; newest: Moment | null; age_seconds: number | null }[];
  files: { kind: string; status: string; files: number; rows: number; rejected: number }[];
  /** Rejects of files ingested in the last 24 hours, by the ten most frequent reasons. */
  rejects_of_last_day: { reason: string; rows: number }[];
  /** Number of all these rejects, with those beyond the thousand rows kept of a file. */
  rejected_rows_of_last_day: number;
  /** Fields whose columns files of the last 24 hours lack, though their mapping reads them: how many, and the last. */
  absent_columns: { field: string; files: number; path: string }[];
  /**
   * Records in files of the last 24 hours that say something else than the first one under their id, and do not count:
   * their number by kind, that of the files, and the last file.
   */
  conflicts: { kind: LandingKind; rows: number; files: number; path: string }[];
  /**
   * Conversion logs of the last 24 hours in our own fields that name a currency beside them, which is not read: their
   * number, and the last.
   */
  unread_currencies: { files: number; path: string }[];
  /** Catalog exports that wait for an operator. */
  held: { file_id: number; source: string; path: string; reason: string }[];
  /** Landing files that could not be read, and are still there. */
  quarantined: { path: string; reason: string }[];
  /**
   * Catalog exports of the last 24 hours that did not count, since a newer one had decided: their number by source, and
   * the last.
   */
  set_aside: { source: string; files: number; path: string; reason: string }[];
  /**
   * Sites that `sites.json` lacked at the snapshot, the ten with the most conversions of the last 24 hours without a
   * postback: their rewards wait for the site.
   */
  unknown_sites: { site_key: string; conversions: number }[];
  /** Versions and commissions ahead of the clock: credits go by older prices than the feeds show. */
  ahead: FutureEffective | null;
  /** Daily reports that lack data. */
  reports: { outdated: number; missing: number };
}

export const nothingPublished: PublishedStatus = {
  newest: [],
  files: [],
  rejects_of_last_day: [],
  rejected_rows_of_last_day: 0,
  absent_columns: [],
  conflicts: [],
  unread_currencies: [],
  held: [],
  quarantined: [],
  set_aside: [],
  unknown_sites: [],
  ahead: null,
  reports: { outdated: 0, missing: 0 },
};

const microsecondsPerDay = 86_400_000_000n;

/**
 * Reads the snapshot, without ages. `now` in milliseconds since the epoch. Throws DuckDB's error where its database
 * cannot be read.
 */
export function readPublishedStatus(data: DataDirectory, now: number): Promise<PublishedStatus> {
  const until = `<= TIMESTAMPTZ '${momentOfMilliseconds(now)}'`;
  const dayAgo = shiftMoment(momentOfMilliseconds(now), -microsecondsPerDay);
  return readAnalytics(data.current, async (query) => {
    const [reports] = await query<PublishedStatus['reports']>(
      `SELECT count(*) FILTER (state = 'outdated') AS outdated, count(*) FILTER (state = 'missing') AS missing FROM report_days`,
    );
    const [rejected] = await query<{ rows: number }>(
      `SELECT coalesce(sum(rejected), 0) AS rows FROM ingest_files WHERE ingested_at > TIMESTAMPTZ '${dayAgo}'`,
    );
    // A later file of the same name replaces it.
    const quarantined = await query<PublishedStatus['quarantined'][number]>(
      `SELECT path, reason FROM ingest_files WHERE status = 'quarantined'
         AND file_id IN (SELECT max(file_id) FROM ingest_files GROUP BY kind, path) ORDER BY file_id`,
    );
    // A newer export of the source settles it.
    const setAside = await query<PublishedStatus['set_aside'][number]>(
      `SELECT source, count(*) AS files, arg_max(path, file_id) AS path, arg_max(reason, file_id) AS reason FROM ingest_files AS file
       WHERE kind = 'offers' AND status = 'superseded' AND starts_with(reason, 'older_export') AND ingested_at > TIMESTAMPTZ '${dayAgo}'
         AND NOT EXISTS (FROM ingest_files AS later
           WHERE later.kind = 'offers' AND later.source = file.source AND later.status = 'loaded' AND later.ingested_at > file.ingested_at)
       GROUP BY source ORDER BY source`,
    );
    return {
      newest: await query<PublishedStatus['newest'][number]>(
        `SELECT *, NULL AS age_seconds FROM (
         ${await newestOfLogs(query, until)}
         UNION ALL SELECT 'offers of ' || source, max(ingested_at) FILTER (ingested_at ${until}) FROM ingest_files WHERE kind = 'offers' AND status = 'loaded' GROUP BY source)
         ORDER BY 1`,
      ),
      files: await query<PublishedStatus['files'][number]>(
        'SELECT kind, status, count(*) AS files, sum(rows) AS rows, sum(rejected) AS rejected FROM ingest_files GROUP BY ALL ORDER BY ALL',
      ),
      rejects_of_last_day: await query<PublishedStatus['rejects_of_last_day'][number]>(
        `SELECT rejects.reason, count(*) AS rows FROM rejects JOIN ingest_files USING (file_id) WHERE ingested_at > TIMESTAMPTZ '${dayAgo}'
         GROUP BY ALL ORDER BY rows DESC, reason LIMIT 10`,
      ),
      rejected_rows_of_last_day: rejected?.rows ?? 0,
      absent_columns: await query<PublishedStatus['absent_columns'][number]>(
        `SELECT field, count(*) AS files, arg_max(path, file_id) AS path FROM ingest_warnings JOIN ingest_files USING (file_id)
         WHERE warning = 'no_column' AND ingested_at > TIMESTAMPTZ '${dayAgo}' GROUP BY field ORDER BY field`,
      ),
      conflicts: await query<PublishedStatus['conflicts'][number]>(
        `SELECT kind, sum(conflicts) AS rows, count(*) AS files, arg_max(path, file_id) AS path FROM ingest_files
         WHERE conflicts > 0 AND ingested_at > TIMESTAMPTZ '${dayAgo}' GROUP BY kind ORDER BY kind`,
      ),
      unread_currencies: await query<PublishedStatus['unread_currencies'][number]>(
        `SELECT count(*) AS files, arg_max(path, file_id) AS path FROM ingest_warnings JOIN ingest_files USING (file_id)
         WHERE kind = 'conversions' AND warning = 'unknown_field' AND lower(field) = 'currency' AND ingested_at > TIMESTAMPTZ '${dayAgo}'
         HAVING files > 0`,
      ),
      held: await query<PublishedStatus['held'][number]>(
        `SELECT file_id, source, path, reason FROM ingest_files WHERE kind = 'offers' AND status = 'held' ORDER BY file_id`,
      ),
      quarantined: quarantined.filter(({ path }) => existsSync(join(data.landing, path))),
      set_aside: setAside.filter(({ path }) => existsSync(join(data.landing, path))),
      unknown_sites: await query<PublishedStatus['unknown_sites'][number]>(
        `SELECT site_key, count(*) AS conversions FROM conversions
         WHERE payout IS NOT NULL AND occurred_at > TIMESTAMPTZ '${dayAgo}' AND site_key IS NOT NULL AND site_key NOT IN (SELECT site_key FROM sites)
           AND NOT EXISTS (FROM postbacks WHERE postbacks.conversion_id = conversions.conversion_id)
         GROUP BY ALL ORDER BY conversions DESC, site_key LIMIT 10`,
      ),
      ahead: (await readFutureEffective(endOfPresent(now), 'snapshot', query)) ?? null,
      reports: reports ?? nothingPublished.reports,
    };
  });
}

/**
 * Returns SQL for the newest event of each log. The snapshot has it up to its as-of; only for an as-of ahead of now all
 * events are read, which takes seconds for sixty million.
 */
async function newestOfLogs(query: AskAnalytics, until: string): Promise<string> {
  // Snapshots of earlier versions lack this table.
  const [known] = await query<{ tables: number }>(
    `SELECT count(*) AS tables FROM duckdb_tables() WHERE table_name = 'newest_events'`,
  );
  const [ahead] =
    known?.tables === 0
      ? [undefined]
      : await query<{ rows: number }>(`SELECT count(*) AS rows FROM newest_events WHERE NOT newest_event_at ${until}`);
  return ahead?.rows === 0
    ? `SELECT logs.kind AS data, newest_event_at AS newest
       FROM (VALUES ('clicks'), ('conversions')) AS logs (kind) LEFT JOIN newest_events USING (kind)`
    : `SELECT 'clicks' AS data, max(clicked_at) AS newest FROM clicks WHERE clicked_at ${until}
       UNION ALL SELECT 'conversions', max(occurred_at) FROM conversions WHERE occurred_at ${until}`;
}
