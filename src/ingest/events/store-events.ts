import type { DuckDBConnection } from '@duckdb/node-api';
import type { EventKind } from '../../vocabulary/values.ts';
import { join, relative } from 'node:path';
import type { DataDirectory } from '../../config/data-directory.ts';
import type { FileEffects } from '../../files/effects.ts';
import type { Day } from '../../time/moment.ts';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import { eventRelation, eventTime, promoteFiles, withPlace } from '../../warehouse/event-files.ts';
import { insertRows } from '../../duckdb/insert-rows.ts';
import type { StagedEvents } from '../logs/stage-events.ts';

/**
 * Moves staged events to their names for good and writes their `event_files` rows. What the transaction does not
 * commit in the end is litter that no row names. Returns the absolute paths.
 */
export async function storeEvents(
  connection: DuckDBConnection,
  data: DataDirectory,
  kind: EventKind,
  staged: StagedEvents,
  runId: number,
  files: FileEffects,
): Promise<string[]> {
  if (staged.days.length === 0) return [];
  const time = eventTime[kind];
  const bounds = await queryRows<{ filename: string; rows: number; first_at: string; last_at: string }>(
    connection,
    `SELECT filename, count(*) AS rows, min(${time}) AS first_at, max(${time}) AS last_at
     FROM ${eventRelation(
       kind,
       staged.days.map(({ path }) => path),
       withPlace,
     )} GROUP BY filename ORDER BY filename`,
  );
  const dayOfFile = new Map(staged.days.map(({ path, day }) => [path, day]));
  const promoted = await promoteFiles(
    bounds.map(({ filename, ...about }, index) => {
      const day = dayOfFile.get(filename) as Day;
      return {
        ...about,
        day,
        from: filename,
        to: join(data.events, kind, `dt=${day}`, `run-${String(runId).padStart(8, '0')}-${index}.parquet`),
      };
    }),
    `event file of ${kind}`,
    files,
  );
  await insertRows(
    connection,
    'event_files',
    {
      path: 'VARCHAR',
      kind: 'VARCHAR',
      day: 'VARCHAR',
      run_id: 'BIGINT',
      rows: 'BIGINT',
      bytes: 'BIGINT',
      sha256: 'VARCHAR',
      first_at: 'VARCHAR',
      last_at: 'VARCHAR',
    },
    promoted.map(({ day, to, rows, bytes, sha256, first_at, last_at }) => ({
      path: relative(data.warehouse, to),
      kind,
      day,
      run_id: runId,
      rows,
      bytes,
      sha256,
      first_at,
      last_at,
    })),
  );
  return promoted.map(({ to }) => to);
}
