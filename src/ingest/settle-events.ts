import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import type { FileEffects } from '../effects/effects.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import { eventRelation, eventTime, settleFile, type EventKind } from '../warehouse/event-files.ts';
import type { StagedEvents } from './stage-events.ts';

/**
 * Moves staged events to their names for good and writes their `event_files` rows. What the transaction does not
 * commit in the end is litter that no row names. Returns the absolute paths.
 */
export async function settleEvents(
  connection: DuckDBConnection, data: DataDirectory, kind: EventKind, staged: StagedEvents, runId: number, files: FileEffects,
): Promise<string[]> {
  const settled: string[] = [];
  for (const [index, { day, path }] of staged.days.entries()) {
    const target = join(data.events, kind, `dt=${day}`, `run-${String(runId).padStart(8, '0')}-${index}.parquet`);
    const time = eventTime[kind];
    const [bounds] = await queryRows<{ rows: number; first_at: string; last_at: string }>(
      connection, `SELECT count(*) AS rows, min(${time}) AS first_at, max(${time}) AS last_at FROM ${eventRelation(kind, [path])}`,
    );
    if (bounds === undefined || bounds.rows === 0) continue;
    const { sha256, bytes } = await settleFile(path, target, `event file of ${kind}`, files);
    await connection.run(
      `INSERT INTO event_files VALUES ($1, $2, $3::DATE, $4, $5, $6, $7, $8::TIMESTAMPTZ, $9::TIMESTAMPTZ)`,
      [relative(data.warehouse, target), kind, day, BigInt(runId), BigInt(bounds.rows), BigInt(bytes), sha256, bounds.first_at, bounds.last_at],
    );
    settled.push(target);
  }
  return settled;
}
