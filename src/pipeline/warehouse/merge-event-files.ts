import type { DuckDBConnection } from '@duckdb/node-api';
import type { Selectable } from 'kysely';
import { join, relative } from 'node:path';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { runNumberText } from '../../kit/text/run-number.ts';
import { quoted, quotedPath } from '../../kit/text/sql-text.ts';
import type { Day } from '../../kit/time/moment.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import type { Run } from '../runs/stage.ts';
import { eventRelation, eventRowGroupRows, eventTime, promoteFile } from './event-files.ts';
import { kyselyOn } from './kysely.ts';
import { checkNamedFile, damagedFileCure } from './named-files.ts';
import { isLargeState, requestBackup } from './state-copies.ts';
import type { Tables } from './tables.ts';

type Merging = Pick<Run, 'runId' | 'data' | 'effects' | 'logger'> & { connection: DuckDBConnection };

type EventFile = Selectable<Tables['event_files']>;

/**
 * Writes the events of some files of a day into one, and returns what its row in `event_files` is to say. `step` names
 * the work, `name` the file: `selected` is SQL for its rows from those of all files, a relation. Throws
 * `OfferlineError` for a damaged file: the merged one would have a valid digest of the damage.
 */
export async function writeMergedFile(
  { connection, runId, data, effects }: Merging,
  { kind, day, step, name }: { kind: EventKind; day: Day; step: string; name: string },
  old: readonly Pick<EventFile, 'path' | 'rows' | 'bytes' | 'sha256'>[],
  selected: (relation: string) => string,
): Promise<Pick<EventFile, 'path' | 'rows' | 'bytes' | 'sha256' | 'first_at' | 'last_at'>> {
  const oldPaths = old.map(({ path }) => join(data.warehouse, path));
  for (const [index, file] of old.entries()) await assertUndamaged(oldPaths[index] as string, file);
  const rows = old.reduce((sum, file) => sum + file.rows, 0);
  const scratch = join(data.scratch, `${name}-${kind}.parquet`);
  await effects.files.makeDirectory(data.scratch);
  await effects.perform(`${step}: written`, () =>
    connection.run(
      `COPY (${selected(eventRelation(kind, oldPaths))})
       TO ${quoted(scratch)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${eventRowGroupRows})`,
    ),
  );
  const [written] = await queryRows<Pick<EventFile, 'rows' | 'first_at' | 'last_at'>>(
    connection,
    `SELECT count(*) AS rows, min(${eventTime[kind]}) AS first_at, max(${eventTime[kind]}) AS last_at FROM read_parquet(${quotedPath(scratch)})`,
  );
  if (written?.rows !== rows)
    throw new Error(`the merged ${kind} of ${day} have ${written?.rows} rows, their files ${rows}`);
  const target = join(data.events, kind, `dt=${day}`, `run-${runNumberText(runId)}-${name}.parquet`);
  const { bytes, sha256 } = await promoteFile(scratch, target, step, effects.files);
  return { ...written, path: relative(data.warehouse, target), bytes, sha256 };
}

async function assertUndamaged(path: string, file: Pick<EventFile, 'bytes' | 'sha256'>): Promise<void> {
  const trouble = await checkNamedFile(path, file, true).catch((error: Error) => error.message);
  if (trouble === undefined) return;
  throw new OfferlineError(`${path} is not what was written (${trouble}), and is left as it is: ${damagedFileCure}`);
}

/**
 * Number of small files of a day that become one: every statement that reads the day opens each of them. More where the
 * state is large, since a copy of it is made before replaced files are removed.
 */
const manySmallFiles = { usually: 8, inLargeState: 64 } as const;

/**
 * Makes one file of a day's small event files that runs before this one wrote, where there are many: a schedule that
 * runs each minute writes a thousand a day. Small ones have less than a row group, so a merge writes few rows, and a
 * day has few files beside one for each row group. A day with a damaged file keeps its files. In the caller's
 * transaction.
 */
export async function mergeSmallFiles(of: Merging, kind: EventKind): Promise<void> {
  const atLeast = (await isLargeState(of.data)) ? manySmallFiles.inLargeState : manySmallFiles.usually;
  const db = kyselyOn(of.connection);
  const small = db
    .selectFrom('event_files')
    .where('kind', '=', kind)
    .where('form', 'is', null)
    .where('rows', '<', eventRowGroupRows)
    .where('run_id', '<', of.runId);
  const many = small
    .select('day')
    .groupBy('day')
    .having(({ fn }) => fn.countAll(), '>=', atLeast);
  for (const { day } of await many.orderBy('day').execute()) {
    const old = await small
      .select(['path', 'run_id', 'rows', 'bytes', 'sha256'])
      .where('day', '=', day)
      .orderBy('path')
      .execute();
    const about = { kind, day, step: `small files of ${kind} merged`, name: 'merged' };
    const merged = await writeMergedFile(of, about, old, (all) => `FROM ${all}`).catch((error: unknown) => {
      if (!(error instanceof OfferlineError)) throw error;
      of.logger.warn({ kind, day }, `${error.message}; the small files of its day are not merged`);
      return undefined;
    });
    if (merged === undefined) continue;
    await requestBackup(of.data, of.effects.files);
    const replaced = old.map(({ path }) => path);
    await db.deleteFrom('event_files').where('path', 'in', replaced).execute();
    // An audit looks at rows of runs that are not published yet; of others it has looked at all.
    const newest = old.reduce((run, { run_id: other }) => Math.max(run, other), 0);
    await db
      .insertInto('event_files')
      .values({ ...merged, kind, day, run_id: newest })
      .execute();
  }
}
