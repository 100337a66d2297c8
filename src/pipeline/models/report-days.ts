import type { DuckDBConnection } from '@duckdb/node-api';
import type { Day } from '../../kit/time/moment.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { outdatedReports } from '../warehouse/dirty-partitions.ts';

/** A UTC day before today that has a report or should have one. */
export interface ReportDay {
  day: Day;
  /** `outdated`: new data changed it, or it was computed before its day was over. */
  state: 'current' | 'outdated' | 'missing';
  /** The new data that changed it, in words; empty where none did. */
  causes: string;
  /** A backfill has computed it from all that is known now. */
  staged: boolean;
}

/** Returns the days before `today` with the state of their reports, the oldest first; within [from, to] where given. */
export async function readReportDays(
  connection: DuckDBConnection,
  today: Day,
  { from, to }: { from?: Day | undefined; to?: Day | undefined } = {},
): Promise<ReportDay[]> {
  return queryRows<Record<keyof ReportDay, string | boolean>>(
    connection,
    `WITH marks AS (
       SELECT day, string_agg(CASE cause
           WHEN 'clicks' THEN 'new clicks' WHEN 'conversions' THEN 'new conversion events'
           WHEN 'attribution' THEN 'clicks that conversions waited for' ELSE 'offers new to the catalog' END, ', ' ORDER BY cause) AS causes, max(run_id) AS run_id
       FROM (${outdatedReports}) GROUP BY day),
     reports AS (
       SELECT day, as_of >= (day + 1)::TIMESTAMPTZ - INTERVAL 1 MICROSECOND AS finished FROM mart_files WHERE mart = 'report_daily')
     SELECT day::VARCHAR AS day,
       CASE WHEN reports.finished IS NULL THEN 'missing' WHEN NOT reports.finished OR marks.day IS NOT NULL THEN 'outdated' ELSE 'current' END AS state,
       coalesce(marks.causes, CASE WHEN NOT reports.finished THEN 'computed before its day was over' END, '') AS causes,
       staged_reports.day IS NOT NULL AND coalesce(staged_reports.run_id >= marks.run_id, true) AS staged
     FROM reports FULL JOIN marks USING (day) LEFT JOIN staged_reports USING (day)
     WHERE day < $1::DATE AND day >= coalesce($2::DATE, day) AND day <= coalesce($3::DATE, day)
     ORDER BY day`,
    [today, from ?? null, to ?? null],
  ) as Promise<ReportDay[]>;
}
