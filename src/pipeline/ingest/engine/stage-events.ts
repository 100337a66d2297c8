import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { stagedLog } from '../../landing/logs/log-parser.ts';
import { literalPath, quoted } from '../../../kit/text/sql-text.ts';
import type { Run } from '../../runs/stage.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { dayOfNumber } from '../../../kit/time/day-number.ts';
import { eventRelation, eventRowGroupRows } from '../../warehouse/event-files.ts';
import type { TempTable } from '../../../kit/duckdb/temp-table.ts';
import type { StagedFiles } from './event-engine.ts';
import type { LogBatch } from './log-batch.ts';

type ScratchRun = Pick<Run, 'data' | 'effects'>;

/**
 * Parses a batch and writes its events as Parquet by day of the event, in one pass over the text: by way of a table it
 * takes half as long again. Whether a row is a duplicate is asked afterwards, of the files.
 */
export async function stageEvents(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  run: ScratchRun,
): Promise<StagedFiles> {
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
  staged: StagedFiles,
  duplicates: TempTable<'duplicate_events'>,
  run: ScratchRun,
): Promise<StagedFiles> {
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
    const step = `events of ${schema.kind}: duplicates left out`;
    await writeScratch(connection, run, `accepted-${schema.kind}`, step, async (folder) => {
      // Day by day: to ask of each row what day it is of would take an eighth longer.
      for (const file of mixed) {
        const { day, path } = staged.days[file] as StagedFiles['days'][number];
        const accepted = join(folder, `${file}.parquet`);
        await connection.run(
          `COPY (
             SELECT events.* FROM ${eventRelation(schema.kind, [path])} AS events
             ANTI JOIN (SELECT file_row_number FROM ${duplicates} WHERE file = ${file}) USING (file_row_number)
           ) TO ${quoted(accepted)} (${eventFormat})`,
        );
        days.push({ day, path: accepted });
      }
    });
  }
  return { ...staged, days };
}

/** Empties a scratch folder and has statements write into it. Rows need no order: to keep theirs takes memory. */
async function writeScratch(
  connection: DuckDBConnection,
  { data, effects }: ScratchRun,
  name: string,
  step: string,
  write: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(data.scratch, name);
  await effects.files.remove(folder, 'staged events: leftover removed');
  await effects.files.makeDirectory(folder);
  await connection.run('SET preserve_insertion_order = false');
  try {
    await effects.perform(step, () => write(folder));
  } finally {
    // In a transaction that a statement has aborted this fails as well: the first error is the one to report.
    await connection.run('RESET preserve_insertion_order').catch(() => undefined);
  }
  return folder;
}

/** Options of an event file. */
const eventFormat = `FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE ${eventRowGroupRows}`;

/** Writes the queries' rows into a scratch folder, by their `day_number`. Rows without one are rejected ones. */
async function writeByDay(
  connection: DuckDBConnection,
  run: ScratchRun,
  name: string,
  step: string,
  queries: readonly string[],
): Promise<StagedFiles> {
  const folder = await writeScratch(connection, run, name, step, async (into) => {
    for (const [part, query] of queries.entries())
      await connection.run(
        `COPY (${query}) TO ${quoted(join(into, String(part)))} (${eventFormat}, PARTITION_BY (day_number), OVERWRITE_OR_IGNORE)`,
      );
  });
  const files = await queryRows<{ file: string }>(connection, `SELECT file FROM glob($1) ORDER BY file`, [
    join(literalPath(folder), '*', '*', '*.parquet'),
  ]);
  const staged: StagedFiles = { days: [], rejected: [] };
  for (const { file } of files) {
    const number = /day_number=(-?\d+)[/\\][^/\\]+$/.exec(file)?.[1];
    if (number === undefined) staged.rejected.push(file);
    else staged.days.push({ day: dayOfNumber(Number(number)), path: file });
  }
  return staged;
}
