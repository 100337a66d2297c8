import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { sha256Of } from '../../kit/files/read-through.ts';
import { quoted, quotedPath } from '../../kit/text/sql-text.ts';
import type { Day } from '../../kit/time/moment.ts';
import type { Run } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { eventOrder, eventRelation, eventRowGroupRows, eventTime, promoteFile } from '../warehouse/event-files.ts';
import { runNumberText } from '../../kit/text/run-number.ts';

/** Form of a compacted file: `sorted`, or `reduced`, which also lacks the clicks' details. */
type CompactForm = 'sorted' | 'reduced';

/** UTC day of one log. */
export interface EventDay {
  kind: EventKind;
  day: Day;
  form: CompactForm;
}

interface CompactedDay {
  /** Files that were merged. */
  files: number;
  rows: number;
  bytesBefore: number;
  bytesAfter: number;
}

/**
 * Columns with personal data and free text. Without them a click still identifies duplicates, attributes late
 * conversions and counts.
 */
const clickDetails = ['ip', 'user_agent', 'sub1', 'sub2'] as const;

/**
 * Merges a day's event files into one, with the same rows and columns, sorted by event key. Its row in `event_files`
 * replaces theirs in one transaction. The next run sweeps the old files, when a copy of the state exists that does not
 * need them; published snapshots keep their hard links. Throws `OfferlineError` for a damaged file: the merged file
 * would have a valid digest of the damage.
 */
export async function compactDay(run: Run, state: StateDatabase, { kind, day, form }: EventDay): Promise<CompactedDay> {
  const { connection, db } = state;
  const { files } = run.effects;
  const old = await db
    .selectFrom('event_files')
    .select(['path', 'rows', 'bytes', 'sha256'])
    .where('kind', '=', kind)
    .where('day', '=', day)
    .orderBy('path')
    .execute();
  const oldPaths = old.map(({ path }) => join(run.data.warehouse, path));
  for (const [index, file] of old.entries()) await assertUndamaged(oldPaths[index] as string, file.sha256);
  const rows = old.reduce((sum, file) => sum + file.rows, 0);
  const scratch = join(run.data.scratch, `${form}-${kind}.parquet`);
  await files.makeDirectory(run.data.scratch);
  await run.effects.perform(`compacted ${kind}: written`, () => writeSorted(connection, kind, oldPaths, form, scratch));
  const [written] = await queryRows<{ rows: number; first_at: string; last_at: string }>(
    connection,
    `SELECT count(*) AS rows, min(${eventTime[kind]}) AS first_at, max(${eventTime[kind]}) AS last_at FROM read_parquet(${quotedPath(scratch)})`,
  );
  if (written?.rows !== rows)
    throw new Error(`the compacted ${kind} of ${day} have ${written?.rows} rows, their files ${rows}`);
  const target = join(run.data.events, kind, `dt=${day}`, `run-${runNumberText(run.runId)}-${form}.parquet`);
  const promoted = await promoteFile(scratch, target, `compacted ${kind}`, files);
  await state.transaction(async () => {
    await db.deleteFrom('event_files').where('kind', '=', kind).where('day', '=', day).execute();
    await db
      .insertInto('event_files')
      .values({
        path: relative(run.data.warehouse, target),
        kind,
        day,
        run_id: run.runId,
        rows,
        bytes: promoted.bytes,
        sha256: promoted.sha256,
        first_at: written.first_at,
        last_at: written.last_at,
        form,
      })
      .execute();
  }, `compacted ${kind}`);
  return {
    files: old.length,
    rows,
    bytesBefore: old.reduce((sum, file) => sum + file.bytes, 0),
    bytesAfter: promoted.bytes,
  };
}

async function writeSorted(
  connection: DuckDBConnection,
  kind: EventKind,
  paths: readonly string[],
  form: CompactForm,
  target: string,
): Promise<void> {
  const emptied =
    kind === 'clicks' && form === 'reduced'
      ? ` REPLACE (${clickDetails.map((name) => `NULL::VARCHAR AS ${name}`).join(', ')})`
      : '';
  await connection.run(
    `COPY (SELECT *${emptied} FROM ${eventRelation(kind, paths)} ORDER BY ${eventOrder[kind]})
     TO ${quoted(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${eventRowGroupRows})`,
  );
}

async function assertUndamaged(path: string, sha256: string): Promise<void> {
  const found = await sha256Of(path).catch((error: Error) => error.message);
  if (found === sha256) return;
  throw new OfferlineError(
    `${path} is not what was written (${found}): restore the warehouse folder from a backup. It is left as it is`,
  );
}
