import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { LogReading } from '../../pipeline/landing/logs/log-fields.ts';
import { momentInZone } from '../../kit/time/zone.ts';

/** Days of a zone's own calendar over which its clocks kept one distance from UTC. */
export interface SteadyDays {
  /** The first midnight of them, and the one after the last, as `YYYY-MM-DD hh:mm:ss`. */
  from: string;
  to: string;
  /** Seconds ahead of UTC. */
  ahead: number;
}

/**
 * The steady days of the zone of a log's times, the newest first; none where the log has no zone. Asked of DuckDB, so
 * that Spark needs no zones of its own, which may be of another year. Days beside a change are left out: on them an
 * hour may come twice or never, and one engine decides.
 */
export async function steadyDays(
  connection: DuckDBConnection,
  { timeZone, wallClock }: LogReading,
): Promise<SteadyDays[]> {
  if (timeZone === undefined) return [];
  return queryRows<SteadyDays>(
    connection,
    `WITH days AS (
       SELECT day, (epoch_us(day) - epoch_us(${momentInZone('day', timeZone)})) // 1_000_000 AS ahead
       FROM (SELECT unnest(generate_series(TIMESTAMP '1970-01-01', timezone('UTC', $1::TIMESTAMPTZ) + INTERVAL 5 DAYS, INTERVAL 1 DAY)) AS day)),
     steady AS (
       SELECT day, ahead FROM days
       WINDOW near AS (ORDER BY day ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING)
       QUALIFY count(*) OVER near = 4 AND min(ahead) OVER near = max(ahead) OVER near)
     SELECT strftime(min(day), '%Y-%m-%d %H:%M:%S') AS "from", strftime(max(day) + INTERVAL 1 DAY, '%Y-%m-%d %H:%M:%S') AS "to", ahead
     FROM (SELECT *, day - INTERVAL 1 DAY * row_number() OVER (PARTITION BY ahead ORDER BY day) AS run FROM steady)
     GROUP BY ahead, run ORDER BY min(day) DESC`,
    [wallClock],
  );
}
