import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { insertInto } from '../../warehouse/insert-into.ts';
import type { FileEffects } from '../../../kit/files/effects.ts';
import type { Day } from '../../../kit/time/moment.ts';
import type { EventKind } from '../../../kit/vocabulary/values.ts';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import type { Run } from '../../runs/stage.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { eventRelation, eventTime, promoteFiles, reducedFilePaths, withPlace } from '../../warehouse/event-files.ts';
import { addKeyRun, filesThatMayHold, keyRunName } from '../../warehouse/keys/event-keys.ts';
import { mergeKeyRuns } from '../../warehouse/keys/upkeep.ts';
import { mergeSmallFiles } from '../../warehouse/merge-event-files.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { dropFindingsOf, recordReadAgain, recordStillUnreadable } from './read-again-log.ts';
import { recordFile } from '../ledger/ledger.ts';
import type { EventEngine, StagedFiles } from '../engine/event-engine.ts';
import type { LogBatch, LogBatchFile } from '../engine/log-batch.ts';
import { recordWarnings } from './log-warnings.ts';
import type { LedgerRow, NewFile } from '../ledger/read-again.ts';
import { warnOfQuarantine } from '../ledger/warn-of-quarantine.ts';
import { logReadingSettings, parseReadingSettings, type ReadingSettings } from '../ledger/reading-settings.ts';
import type { EmittedState } from '../states/state-events.ts';
import { recordRejects } from './rejects.ts';
import { runNumberText } from '../../../kit/text/run-number.ts';

/** A run's new files of one log. */
export interface OpenedLog {
  schema: LogSchema;
  batch: LogBatch;
  /** Files that cannot be read whole. */
  broken: BrokenFile[];
  /** States that the rows of state leave behind. */
  emitted: readonly EmittedState[];
}

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
  engine: EventEngine,
  log: OpenedLog,
  nextFileId: () => number,
): Promise<string[]> {
  const newFiles = log.batch.files.length === 0 ? [] : await loadLog(run, state, engine, log);
  await recordUnread(run, state, log, nextFileId);
  return newFiles;
}

/** Loads the files of a log that can be read. */
async function loadLog(
  run: Run,
  state: StateDatabase,
  engine: EventEngine,
  { schema, batch }: OpenedLog,
): Promise<string[]> {
  const { connection } = state;
  const staged = await engine.stage({
    schema,
    batch,
    history: (keys) => filesThatMayHold({ ...run, connection }, schema.kind, keys),
    reduced: await reducedFilePaths(connection, run.data),
  });
  await dropFindingsOf(connection, batch.files);
  const rejected = await recordRejects(connection, schema, batch, staged);
  const warnings = await recordWarnings(
    connection,
    schema,
    batch,
    staged.days.map(({ path }) => path),
  );
  const newFiles = await storeEvents(connection, run.data, schema.kind, staged, run.runId, run.effects.files);
  await addKeyRun({ ...run, connection }, schema.kind, newFiles, keyRunName(run.runId));
  await mergeKeyRuns({ ...run, connection }, schema.kind, run.runId, manyKeyRuns);
  await mergeSmallFiles({ ...run, connection }, schema.kind);
  const accepted = await acceptedByFile(state, schema, newFiles);

  for (const file of batch.files) {
    const { foundAgain, duplicates } = duplicatesOf(file, staged.duplicates.get(file.fileId)?.duplicates ?? 0);
    const counts = {
      accepted: accepted.get(file.fileId) ?? 0,
      duplicates,
      conflicts: (staged.duplicates.get(file.fileId)?.conflicts ?? 0) + (file.states?.conflicts ?? 0),
      rejected: rejected.get(file.fileId) ?? 0,
      warnings: warnings.get(file.fileId) ?? 0,
    };
    const rows = counts.accepted + counts.duplicates + counts.rejected;
    const readWith = readingOf(run, schema, file);
    if (file.before === undefined)
      await recordFile(state, run, { file, counts: { ...counts, rows }, status: 'loaded', reason: null, readWith });
    else await recordReadAgain(state, run, file.before, { ...counts, foundAgain }, readWith);
  }
  return newFiles;
}

/** What the ledger keeps of a log's reading: of rows of state how many became events, here and in readings before. */
function readingOf({ settings }: Run, { kind }: LogSchema, { path, before, states }: LogBatchFile): ReadingSettings {
  const reading = logReadingSettings(settings, kind, path);
  return states === undefined ? reading : { ...reading, emitted_rows: states.emitted + emittedRowsOf(before) };
}

function emittedRowsOf(before: LedgerRow | undefined): number {
  return before === undefined ? 0 : (parseReadingSettings(before.read_with).emitted_rows ?? 0);
}

/**
 * Rows of a file that make no new event. `staged`: events of this reading that came before. `foundAgain`: events that
 * the file's earlier reading made; `duplicates`: all others.
 */
function duplicatesOf({ before, states }: LogBatchFile, staged: number): { foundAgain: number; duplicates: number } {
  const acceptedBefore = before?.accepted ?? 0;
  if (states === undefined) {
    const foundAgain = Math.min(acceptedBefore, staged);
    return { foundAgain, duplicates: staged - foundAgain };
  }
  // Rows of state that became events before are unchanged now: none of these events, one or two a row, is staged again.
  const unchanged = Math.max(before?.duplicates ?? 0, states.unchanged - emittedRowsOf(before));
  return { foundAgain: acceptedBefore, duplicates: staged + unchanged };
}

/** Number of key runs from which an ingest merges them itself; maintenance does it sooner. */
const manyKeyRuns = 32;

/** Records the files of a log that cannot be read whole. */
async function recordUnread(
  run: Run,
  state: StateDatabase,
  { schema, batch, broken }: OpenedLog,
  nextFileId: () => number,
): Promise<void> {
  const numbered = broken.map(({ file, ...why }) => ({
    file: { ...file, fileId: file.before?.file_id ?? nextFileId() },
    ...why,
  }));
  for (const { file, reason: code, detail } of [...batch.quarantined, ...numbered]) {
    const about = { file: file.path, reason: code, detail };
    if (file.before?.status === 'loaded')
      run.logger.warn(about, 'cannot be read again; what was loaded of this file stays');
    else warnOfQuarantine(run, about);
    const reason = `${code}: ${detail}`;
    const readWith = logReadingSettings(run.settings, schema.kind, file.path);
    if (file.before === undefined)
      await recordFile(state, run, { file, counts: noCounts, status: 'quarantined', reason, readWith });
    else await recordStillUnreadable(state, file.before, reason, readWith);
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

/**
 * Moves staged events to their names for good and writes their `event_files` rows. What the transaction does not
 * commit in the end is litter that no row names. Returns the absolute paths.
 */
async function storeEvents(
  connection: DuckDBConnection,
  data: DataDirectory,
  kind: EventKind,
  staged: Pick<StagedFiles, 'days'>,
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
        to: join(data.events, kind, `dt=${day}`, `run-${runNumberText(runId)}-${index}.parquet`),
      };
    }),
    `event file of ${kind}`,
    files,
  );
  await insertInto(
    connection,
    'event_files',
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
