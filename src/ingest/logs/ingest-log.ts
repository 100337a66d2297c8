import type { LogSchema } from '../../landing/logs/log-fields.ts';
import type { Run } from '../../runs/stage.ts';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import { eventFilePaths, eventRelation } from '../../warehouse/event-files.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { showProgress } from '../../duckdb/query-progress.ts';
import { findDuplicates } from './duplicates.ts';
import { dropRejectsOf, recordReadAgain, recordStillUnreadable } from './read-again-log.ts';
import { recordFile } from '../ledger/ledger.ts';
import type { LogBatch } from './log-batch.ts';
import { recordWarnings } from './log-warnings.ts';
import type { NewFile } from '../ledger/read-again.ts';
import { logReadWith } from '../ledger/read-with.ts';
import { recordRejects } from './rejects.ts';
import { storeEvents, stageEvents, withoutDuplicates } from './stage-events.ts';

export interface BrokenFile {
  file: NewFile;
  reason: string;
  detail: string;
}

/**
 * Ingests a run's new files of one log within the open transaction: events as Parquet, ledger, rejects, warnings.
 * For every file rows = accepted + duplicates + rejected. Returns the absolute paths of the run's event files.
 */
export async function ingestLog(
  run: Run,
  state: StateDatabase,
  schema: LogSchema,
  batch: LogBatch,
  broken: BrokenFile[],
  nextFileId: () => number,
): Promise<string[]> {
  const { connection } = state;
  if (batch.files.length === 0) {
    await recordUnread(run, state, schema, batch, broken, nextFileId);
    return [];
  }
  const history = await eventFilePaths(connection, run.data, schema.kind);
  const parsed = await showProgress(connection, run.progress, `parsing ${schema.kind}`, () =>
    stageEvents(connection, schema, batch, run),
  );
  const duplicates = await findDuplicates(connection, schema, batch, parsed, history);
  const staged = await withoutDuplicates(connection, schema, parsed, duplicates.events, run);
  await dropRejectsOf(connection, batch.files);
  const rejected = await recordRejects(connection, schema, batch, staged);
  const warnings = await recordWarnings(
    connection,
    schema,
    batch,
    staged.days.map(({ path }) => path),
  );
  const newFiles = await storeEvents(connection, run.data, schema.kind, staged, run.runId, run.effects.files);
  const accepted = await acceptedByFile(state, schema, newFiles);

  for (const file of batch.files) {
    const counts = {
      accepted: accepted.get(file.fileId) ?? 0,
      duplicates: duplicates.byFile.get(file.fileId)?.duplicates ?? 0,
      conflicts: duplicates.byFile.get(file.fileId)?.conflicts ?? 0,
      rejected: rejected.get(file.fileId) ?? 0,
      warnings: warnings.get(file.fileId) ?? 0,
    };
    const rows = counts.accepted + counts.duplicates + counts.rejected;
    const readWith = logReadWith(run.settings, schema.kind);
    if (file.before === undefined)
      await recordFile(state, run, file, file.fileId, { ...counts, rows }, 'loaded', null, readWith);
    else await recordReadAgain(state, run, file.before, counts, readWith);
  }
  await recordUnread(run, state, schema, batch, broken, nextFileId);
  return newFiles;
}

async function recordUnread(
  run: Run,
  state: StateDatabase,
  { kind }: LogSchema,
  batch: LogBatch,
  broken: BrokenFile[],
  nextFileId: () => number,
): Promise<void> {
  const readWith = logReadWith(run.settings, kind);
  const unread: BrokenFile[] = [...batch.quarantined, ...broken];
  const fileIds = [
    ...batch.quarantined.map(({ file }) => file.fileId),
    ...broken.map(({ file }) => file.before?.file_id ?? nextFileId()),
  ];
  for (const [index, { file, reason, detail }] of unread.entries()) {
    const about = { file: file.path, reason, detail };
    if (file.before?.status === 'loaded')
      run.logger.warn(about, 'cannot be read again; what was loaded of this file stays');
    else run.logger.warn(about, 'quarantined: nothing of this file was loaded; put a whole copy beside it');
    if (file.before !== undefined) await recordStillUnreadable(state, file.before, `${reason}: ${detail}`, readWith);
    else
      await recordFile(
        state,
        run,
        file,
        fileIds[index] as number,
        noCounts,
        'quarantined',
        `${reason}: ${detail}`,
        readWith,
      );
  }
}

const noCounts = { rows: 0, accepted: 0, duplicates: 0, conflicts: 0, rejected: 0, warnings: 0 };

async function acceptedByFile(
  { connection }: StateDatabase,
  schema: LogSchema,
  newFiles: string[],
): Promise<Map<number, number>> {
  if (newFiles.length === 0) return new Map();
  const rows = await queryRows<{ file_id: number; rows: number }>(
    connection,
    `SELECT file_id, count(*) AS rows FROM ${eventRelation(schema.kind, newFiles)} GROUP BY file_id`,
  );
  return new Map(rows.map(({ file_id, rows: accepted }) => [file_id, accepted]));
}
