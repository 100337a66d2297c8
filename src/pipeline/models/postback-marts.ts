import type { DuckDBConnection } from '@duckdb/node-api';
import { dayOf } from '../../kit/time/moment.ts';
import type { Run } from '../runs/stage.ts';
import { clearPostbackDays, dirtyPostbackDays, type PostbackMart } from '../warehouse/dirty-partitions.ts';
import { writeDays } from './day-marts.ts';

/** Marts by the day of the outbox row or of the attempt. They hold what happened, independent of the run's as-of. */
export const postbackMarts = ['postbacks', 'postback_attempts'] as const satisfies readonly PostbackMart[];

/** Writes the days of the postback marts that deliveries or new postbacks changed; an empty day where there is none. */
export async function writePostbackMarts(run: Run, connection: DuckDBConnection): Promise<void> {
  const days = await dirtyPostbackDays(connection, postbackMarts, dayOf(run.asOf));
  await writeDays(
    run,
    connection,
    days.map(({ mart, day }) => ({ mart, day, asOf: run.asOf })),
  );
  await clearPostbackDays(connection);
}
