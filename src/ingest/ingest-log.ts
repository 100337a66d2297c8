import type { LogSchema } from '../landing/log-fields.ts';
import type { CheckedFile } from '../landing/landing-file.ts';
import type { Run } from '../stage/stage.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';
import { eventFilePaths, eventRelation } from '../warehouse/event-files.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { showProgress } from '../warehouse/query-progress.ts';
import { removeDuplicates } from './duplicates.ts';
import { recordFile } from './ledger.ts';
import type { LogBatch } from './log-batch.ts';
import { recordRejects, recordWarnings } from './rejects.ts';
import { settleEvents } from './settle-events.ts';
import { stageEvents } from './stage-events.ts';

export interface BrokenFile {
  file: CheckedFile;
  reason: string;
  detail: string;
}

/**
 * Ingests a run's new files of one log within the open transaction: events as Parquet, ledger, rejects, warnings.
 * For every file rows = accepted + duplicates + rejected. Returns the absolute paths of the run's event files.
 */
export async function ingestLog(
  run: Run, state: StateDatabase, schema: LogSchema, batch: LogBatch, broken: BrokenFile[], nextFileId: () => number,
): Promise<string[]> {
  const { connection } = state;
  if (batch.files.length === 0) {
    await recordUnread(run, state, batch, broken, nextFileId);
    return [];
  }
  const history = await eventFilePaths(connection, run.data, schema.kind);
  const staged = await showProgress(connection, run.progress, `parsing ${schema.kind}`, () => stageEvents(connection, schema, batch, run));
  const duplicates = await removeDuplicates(connection, schema, batch, staged, history);
  const rejected = await recordRejects(connection, batch, staged);
  const warnings = await recordWarnings(connection, schema, batch, staged.days.map(({ path }) => path));
  const newFiles = await settleEvents(connection, run.data, schema.kind, staged, run.runId, run.effects.files);
  const accepted = await acceptedByFile(state, schema, newFiles);

  for (const file of batch.files) {
    const counts = {
      accepted: accepted.get(file.fileId) ?? 0,
      duplicates: duplicates.get(file.fileId)?.duplicates ?? 0,
      conflicts: duplicates.get(file.fileId)?.conflicts ?? 0,
      rejected: rejected.get(file.fileId) ?? 0,
      warnings: warnings.get(file.fileId) ?? 0,
    };
    const rows = counts.accepted + counts.duplicates + counts.rejected;
    await recordFile(state, run, file, file.fileId, { ...counts, rows }, 'loaded', null);
  }
  await recordUnread(run, state, batch, broken, nextFileId);
  return newFiles;
}

async function recordUnread(run: Run, state: StateDatabase, batch: LogBatch, broken: BrokenFile[], nextFileId: () => number): Promise<void> {
  for (const { file, reason, detail } of batch.quarantined) await quarantine(run, state, file, file.fileId, reason, detail);
  for (const { file, reason, detail } of broken) await quarantine(run, state, file, nextFileId(), reason, detail);
}

async function quarantine(run: Run, state: StateDatabase, file: CheckedFile, fileId: number, reason: string, detail: string): Promise<void> {
  run.logger.warn({ file: file.path, reason, detail }, 'quarantined: nothing of this file was loaded; put a whole copy beside it');
  const none = { rows: 0, accepted: 0, duplicates: 0, conflicts: 0, rejected: 0, warnings: 0 };
  await recordFile(state, run, file, fileId, none, 'quarantined', `${reason}: ${detail}`);
}

async function acceptedByFile({ connection }: StateDatabase, schema: LogSchema, newFiles: string[]): Promise<Map<number, number>> {
  if (newFiles.length === 0) return new Map();
  const rows = await queryRows<{ file_id: number; rows: number }>(
    connection, `SELECT file_id, count(*) AS rows FROM ${eventRelation(schema.kind, newFiles)} GROUP BY file_id`,
  );
  return new Map(rows.map(({ file_id, rows: accepted }) => [file_id, accepted]));
}
