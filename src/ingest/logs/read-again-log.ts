import type { DuckDBConnection } from '@duckdb/node-api';
import type { Run } from '../../runs/stage.ts';
import { queriesOn } from '../../warehouse/queries-on.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import type { LedgerCounts } from '../ledger/ledger.ts';
import type { LogFile } from './log-batch.ts';
import type { LedgerRow } from '../ledger/read-again.ts';
import type { ReadWith } from '../ledger/read-with.ts';

/** Removes the rejects of logs that are read again: this reading writes new ones. */
export async function dropRejectsOf(connection: DuckDBConnection, files: readonly LogFile[]): Promise<void> {
  const again = files.filter(({ before }) => before !== undefined).map(({ fileId }) => fileId);
  if (again.length > 0) await queriesOn(connection).deleteFrom('rejects').where('file_id', 'in', again).execute();
}

/**
 * Brings the ledger row of a log that was read again up to date. `now` is what this run found: rows that were rejected
 * before are accepted, and those that were accepted before are found as duplicates of themselves.
 */
export async function recordReadAgain(
  { connection }: StateDatabase,
  run: Run,
  before: LedgerRow,
  now: Omit<LedgerCounts, 'rows'>,
  readWith: ReadWith,
): Promise<void> {
  const fileId = BigInt(before.file_id);
  const rows = now.accepted + now.duplicates + now.rejected;
  const accepted = before.accepted + now.accepted;
  // A row that was accepted once stays, even where it would be rejected now.
  const duplicates = Math.max(0, now.duplicates - before.accepted);
  const rejected = rows - accepted - duplicates;
  if (rejected < now.rejected) {
    await connection.run(
      'DELETE FROM rejects WHERE file_id = $1 AND line NOT IN (SELECT line FROM rejects WHERE file_id = $1 ORDER BY line LIMIT $2)',
      [fileId, BigInt(rejected)],
    );
  }
  await addUpWarnings(connection, fileId);
  // What was quarantined is ingested by this run.
  const ingested = before.status === 'loaded' ? before : { run_id: run.runId, ingested_at: run.wallClock };
  await connection.run(
    `UPDATE ingest_files SET status = 'loaded', reason = NULL, rows = $2, accepted = $3, duplicates = $4, conflicts = $5, rejected = $6, read_with = $7,
       run_id = $8, ingested_at = $9::TIMESTAMPTZ,
       warnings = (SELECT coalesce(sum(CASE warning WHEN 'unknown_field' THEN 1 ELSE ingest_warnings.rows END), 0) FROM ingest_warnings WHERE file_id = $1)
     WHERE file_id = $1`,
    [
      fileId,
      ...[rows, accepted, duplicates, Math.min(duplicates, now.conflicts), rejected].map(BigInt),
      JSON.stringify(readWith),
      BigInt(ingested.run_id),
      ingested.ingested_at,
    ],
  );
}

/** Rows of the earlier reading and those of this one each have warnings. */
async function addUpWarnings(connection: DuckDBConnection, fileId: bigint): Promise<void> {
  await connection.run(
    'CREATE OR REPLACE TEMP TABLE warnings_in_all AS SELECT file_id, warning, field, sum(rows)::BIGINT AS rows FROM ingest_warnings WHERE file_id = $1 GROUP BY ALL',
    [fileId],
  );
  await connection.run('DELETE FROM ingest_warnings WHERE file_id = $1', [fileId]);
  await connection.run('INSERT INTO ingest_warnings BY NAME FROM warnings_in_all');
}

/**
 * A file that cannot be read whole this time: what was loaded of it stays, and where nothing was, the reason is
 * brought up to date.
 */
export async function recordStillUnreadable(
  { db }: StateDatabase,
  { file_id, status }: LedgerRow,
  reason: string,
  readWith: ReadWith,
): Promise<void> {
  await db
    .updateTable('ingest_files')
    .set({ read_with: JSON.stringify(readWith), ...(status === 'loaded' ? {} : { reason }) })
    .where('file_id', '=', file_id)
    .execute();
}
