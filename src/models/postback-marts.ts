import type { DuckDBConnection } from '@duckdb/node-api';
import { addDays, dayOf, startOfDay, type Day } from '../time/moment.ts';
import type { Run } from '../runs/stage.ts';
import { queryRows } from '../duckdb/dialect/rows.ts';
import { writeDay } from './day-marts.ts';

/** Marts by the day of writing to the outbox, and of the try. They tell what was done, whatever the run's as-of. */
export const postbackMarts = ['postbacks', 'postback_attempts'] as const;
type PostbackMart = (typeof postbackMarts)[number];

/** Writes the days of the postback marts that deliveries or new postbacks have touched; an empty one where there is none at all. */
export async function writePostbackMarts(run: Run, connection: DuckDBConnection): Promise<void> {
  const days = await queryRows<{ mart: PostbackMart; day: Day }>(
    connection,
    `SELECT mart, day::VARCHAR AS day FROM touched_postback_days
     UNION
     SELECT mart, $1 FROM (VALUES ${postbackMarts.map((mart) => `('${mart}')`).join(', ')}) AS marts (mart) WHERE mart NOT IN (SELECT mart FROM mart_files)
     ORDER BY 1, 2`,
    [dayOf(run.asOf)],
  );
  for (const { mart, day } of days) {
    await writeDay(run, connection, mart, day, run.asOf, {
      day_start: startOfDay(day),
      day_end: startOfDay(addDays(day, 1)),
    });
  }
  await connection.run('DELETE FROM touched_postback_days');
}
