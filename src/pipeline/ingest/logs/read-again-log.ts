import type { DuckDBConnection } from '@duckdb/node-api';
import type { Run } from '../../runs/stage.ts';
import { kyselyOn } from '../../warehouse/kysely.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import type { LedgerCounts } from '../ledger/ledger.ts';
import type { LogBatchFile } from '../engine/log-batch.ts';
import type { LedgerRow } from '../ledger/read-again.ts';
import type { ReadingSettings } from '../ledger/reading-settings.ts';
import { totalOf, wholeFileWarnings, type CountedWarning } from '../ledger/warning-counts.ts';

/** Removes of logs that are read again what this reading finds anew: rejects, and warnings of the whole file. */
export async function dropFindingsOf(connection: DuckDBConnection, files: readonly LogBatchFile[]): Promise<void> {
  const again = files.filter(({ before }) => before !== undefined).map(({ fileId }) => fileId);
  if (again.length === 0) return;
  const db = kyselyOn(connection);
  await db.deleteFrom('rejects').where('file_id', 'in', again).execute();
  const ofFiles = db.deleteFrom('ingest_warnings').where('file_id', 'in', again);
  await ofFiles.where('warning', 'in', wholeFileWarnings).execute();
}

/**
 * Brings the ledger row of a log that was read again up to date. `now` is what this run found: rows that were rejected
 * before are accepted, and those that were accepted before are found again.
 */
export async function recordReadAgain(
  { db }: StateDatabase,
  run: Run,
  before: LedgerRow,
  now: Omit<LedgerCounts, 'rows'> & { foundAgain: number },
  readWith: ReadingSettings,
): Promise<void> {
  const { file_id } = before;
  // Rows that were accepted once stay, also those that this reading rejects, passes over or finds under another id.
  const accepted = before.accepted + now.accepted;
  const { duplicates, foundAgain } = now;
  const rejected = Math.max(0, now.rejected - (before.accepted - foundAgain));
  if (rejected < now.rejected) {
    const ofFile = db.selectFrom('rejects').select('line').where('file_id', '=', file_id);
    await db
      .deleteFrom('rejects')
      .where('file_id', '=', file_id)
      .where('line', 'not in', ofFile.orderBy('line').limit(rejected))
      .execute();
  }
  // What was quarantined is ingested by this run.
  const { run_id, ingested_at } =
    before.status === 'loaded' ? before : { run_id: run.runId, ingested_at: run.wallClock };
  await db
    .updateTable('ingest_files')
    .set({
      status: 'loaded',
      reason: null,
      rows: accepted + duplicates + rejected,
      accepted,
      duplicates,
      conflicts: Math.min(duplicates, now.conflicts),
      rejected,
      warnings: totalOf(await addUpWarnings(db, file_id)),
      read_with: JSON.stringify(readWith),
      run_id,
      ingested_at,
    })
    .where('file_id', '=', file_id)
    .execute();
}

/** Events of the earlier reading and those of this one each have warnings: as many as a file may have, a few dozen. */
async function addUpWarnings(db: StateDatabase['db'], fileId: number): Promise<CountedWarning[]> {
  const warnings = await db
    .selectFrom('ingest_warnings')
    .select(['warning', 'field'])
    .select(({ fn }) => fn.sum<number>('rows').as('rows'))
    .where('file_id', '=', fileId)
    .groupBy(['warning', 'field'])
    .execute();
  if (warnings.length === 0) return [];
  await db.deleteFrom('ingest_warnings').where('file_id', '=', fileId).execute();
  await db
    .insertInto('ingest_warnings')
    .values(warnings.map((warning) => ({ file_id: fileId, ...warning })))
    .execute();
  return warnings;
}

/**
 * A file that cannot be read whole this time: what was loaded of it stays, and where nothing was, the reason is
 * brought up to date.
 */
export async function recordStillUnreadable(
  { db }: StateDatabase,
  { file_id, status }: LedgerRow,
  reason: string,
  readWith: ReadingSettings,
): Promise<void> {
  await db
    .updateTable('ingest_files')
    .set({ read_with: JSON.stringify(readWith), ...(status === 'loaded' ? {} : { reason }) })
    .where('file_id', '=', file_id)
    .execute();
}
