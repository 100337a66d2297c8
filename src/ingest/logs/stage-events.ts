import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { stagedLog } from '../../landing/logs/log-parser.ts';
import { literalPath, quoted } from '../../text/sql-text.ts';
import type { Day } from '../../time/moment.ts';
import type { Run } from '../../runs/stage.ts';
import { queryRows } from '../../duckdb/dialect/rows.ts';
import { dayNumber, dayOfNumber } from '../../time/day-number.ts';
import { eventRelation, eventTime, promoteFiles, withPlace } from '../../warehouse/event-files.ts';
import type { TempTable } from '../../duckdb/temp-table.ts';
import type { LogBatch } from './log-batch.ts';
import type { EventKind } from '../../vocabulary/values.ts';
import type { DataDirectory } from '../../config/data-directory.ts';
import type { FileEffects } from '../../files/effects.ts';
import { insertRows } from '../../duckdb/insert-rows.ts';

/** Parquet files in the scratch folder, not yet part of the warehouse. */
export interface StagedEvents {
  /** Accepted and duplicate events, one or more files per UTC day. */
  days: { day: Day; path: string }[];
  /** Files of rejected rows: only `file_id` and `reject` mean anything there. */
  rejected: string[];
}

type ScratchRun = Pick<Run, 'data' | 'effects'>;

/**
 * Finding one click reads its whole row group: an eighth of DuckDB's default halves the lookup and costs the writer
 * nothing.
 */
const rowGroupRows = 16_384;

/**
 * Parses a batch and writes its events as Parquet by day of the event, in one pass over the text: by way of a table it
 * takes half as long again. Whether a row is a duplicate is asked afterwards, of the files.
 */
export async function stageEvents(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  run: ScratchRun,
): Promise<StagedEvents> {
  if (batch.files.length === 0) return { days: [], rejected: [] };
  return writeByDay(
    connection,
    run,
    `staged-${schema.kind}`,
    `events of ${schema.kind}: staged`,
    batch.rows.map((rows) => stagedLog(schema, rows)),
  );
}

/**
 * Removes the duplicates from the staged days. Of a log that came again most days hold nothing else: they are not
 * written again.
 */
export async function withoutDuplicates(
  connection: DuckDBConnection,
  schema: LogSchema,
  staged: StagedEvents,
  duplicates: TempTable<'duplicate_events'>,
  run: ScratchRun,
): Promise<StagedEvents> {
  const affected = new Map(
    (
      await queryRows<{ file: number; rows: number }>(
        connection,
        `SELECT file, count(*) AS rows FROM ${duplicates} GROUP BY file`,
      )
    ).map(({ file, rows }) => [file, rows]),
  );
  if (affected.size === 0) return staged;
  const paths = staged.days.map(({ path }) => path);
  const mixed = (
    await queryRows<{ file: number; rows: number }>(
      connection,
      `SELECT file_index AS file, count(*) AS rows FROM ${eventRelation(schema.kind, paths)} GROUP BY file_index ORDER BY file`,
    )
  )
    .filter(({ file, rows }) => (affected.get(file) ?? rows) < rows)
    .map(({ file }) => file);
  const days = staged.days.filter((_, file) => !affected.has(file));
  if (mixed.length > 0) {
    const { days: rewritten } = await writeByDay(
      connection,
      run,
      `accepted-${schema.kind}`,
      `events of ${schema.kind}: duplicates left out`,
      [
        `SELECT rows.*, ${dayNumber(schema.time)} AS day_number
       FROM ${eventRelation(
         schema.kind,
         mixed.map((file) => paths[file] as string),
       )} AS rows
       ANTI JOIN ${duplicates} AS known ON known.file = [${mixed.join(', ')}][rows.file_index::BIGINT + 1] AND known.file_row_number = rows.file_row_number`,
      ],
    );
    days.push(...rewritten);
  }
  return { ...staged, days };
}

/** Writes the queries' rows into a scratch folder, by their `day_number`. Rows without one are rejected ones. */
async function writeByDay(
  connection: DuckDBConnection,
  { data, effects }: ScratchRun,
  name: string,
  step: string,
  queries: readonly string[],
): Promise<StagedEvents> {
  const folder = join(data.scratch, name);
  await effects.files.remove(folder, 'staged events: leftover removed');
  await effects.files.makeDirectory(folder);
  await connection.run('SET preserve_insertion_order = false');
  await effects.perform(step, async () => {
    for (const [part, query] of queries.entries()) {
      await connection.run(
        `COPY (${query}) TO ${quoted(join(folder, String(part)))}
         (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, PARTITION_BY (day_number), ROW_GROUP_SIZE ${rowGroupRows}, OVERWRITE_OR_IGNORE)`,
      );
    }
  });
  await connection.run('RESET preserve_insertion_order');
  const files = await queryRows<{ file: string }>(connection, `SELECT file FROM glob($1) ORDER BY file`, [
    join(literalPath(folder), '*', '*', '*.parquet'),
  ]);
  const staged: StagedEvents = { days: [], rejected: [] };
  for (const { file } of files) {
    const number = /day_number=(-?\d+)[/\\][^/\\]+$/.exec(file)?.[1];
    if (number === undefined) staged.rejected.push(file);
    else staged.days.push({ day: dayOfNumber(Number(number)), path: file });
  }
  return staged;
}

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
