import type { DuckDBConnection } from '@duckdb/node-api';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { realEffects, type FileEffects } from '../../kit/files/effects.ts';
import { severalAtOnce } from '../../kit/files/several-at-once.ts';
import { sha256Of } from '../../kit/files/read-through.ts';
import { quotedPathList } from '../../kit/text/sql-text.ts';
import { kyselyOn } from './kysely.ts';

/**
 * Columns of an event file beside the event's own fields.
 * `event_key`: see `src/kit/vocabulary/event-key.ts`;
 * `file_id`: the landing file it came from; `warnings`: what was dropped, as bits; `reject`: always NULL here, used
 * while staging.
 */
export const eventColumns: Record<EventKind, Record<string, string>> = {
  clicks: {
    click_id: 'VARCHAR',
    offer_id: 'INTEGER',
    source: 'VARCHAR',
    external_id: 'VARCHAR',
    site_key: 'VARCHAR',
    user_id: 'VARCHAR',
    clicked_at: 'TIMESTAMPTZ',
    country: 'VARCHAR',
    device: 'VARCHAR',
    ip: 'VARCHAR',
    user_agent: 'VARCHAR',
    sub1: 'VARCHAR',
    sub2: 'VARCHAR',
    event_key: 'BIGINT',
    file_id: 'BIGINT',
  },
  conversions: {
    conversion_id: 'VARCHAR',
    click_id: 'VARCHAR',
    kind: 'VARCHAR',
    occurred_at: 'TIMESTAMPTZ',
    event_id: 'VARCHAR',
    payout: 'DECIMAL(15,6)',
    reason: 'VARCHAR',
    event_key: 'BIGINT',
    file_id: 'BIGINT',
  },
};

/**
 * Columns with personal data and free text, which clicks of long ago may have lost. Without them a click still
 * identifies duplicates, attributes late conversions and counts.
 */
export const clickDetails: readonly string[] = ['ip', 'user_agent', 'sub1', 'sub2'];

/**
 * Finding one event reads its whole row group: an eighth of DuckDB's default halves the lookup and costs the writer
 * nothing.
 */
export const eventRowGroupRows = 16_384;

/** SQL of the order in a file of a closed day: by key, then by what makes an event one. */
export const eventOrder: Record<EventKind, string> = {
  clicks: 'event_key, click_id',
  conversions: 'event_key, conversion_id, kind',
};

/** The moment of each kind's events, which decides their day. */
export const eventTime: Record<EventKind, string> = { clicks: 'clicked_at', conversions: 'occurred_at' };

/**
 * SQL relation over event files; typed and empty where there are none, since DuckDB refuses an empty list. `options`
 * are the reader's, `listed` writes the list of paths.
 */
export function eventRelation(
  kind: EventKind,
  paths: readonly string[],
  { options = '', listed = quotedPathList }: { options?: string; listed?: (paths: readonly string[]) => string } = {},
): string {
  if (paths.length > 0) return `read_parquet(${listed(paths)}, hive_partitioning = false${options})`;
  const columns = Object.entries(eventColumns[kind]).map(([name, type]) => `NULL::${type} AS ${name}`);
  const located = options === '' ? [] : ['NULL::VARCHAR AS filename', 'NULL::BIGINT AS file_row_number'];
  return `(SELECT ${[...columns, ...located].join(', ')} WHERE false)`;
}

/** Reads the files with each row's place. */
export const withPlace = { options: ', filename = true, file_row_number = true' };

/**
 * Absolute paths of the committed event files, oldest day first; only those with events in [from, to] where given (RFC
 * 3339, inclusive).
 */
export async function eventFilePaths(
  connection: DuckDBConnection,
  data: DataDirectory,
  kind: EventKind,
  span?: { from: string; to: string },
): Promise<string[]> {
  const ofKind = kyselyOn(connection).selectFrom('event_files').select('path').where('kind', '=', kind);
  const within = span ? ofKind.where('last_at', '>=', span.from).where('first_at', '<=', span.to) : ofKind;
  const rows = await within.orderBy('day').orderBy('path').execute();
  return rows.map(({ path }) => join(data.warehouse, path));
}

/** Absolute paths of the event files whose clicks have lost their details. */
export async function reducedFilePaths(connection: DuckDBConnection, data: DataDirectory): Promise<Set<string>> {
  const reduced = kyselyOn(connection).selectFrom('event_files').select('path').where('form', '=', 'reduced');
  return new Set((await reduced.execute()).map(({ path }) => join(data.warehouse, path)));
}

export interface PromotedFile {
  sha256: string;
  bytes: number;
}

/** Moves a finished file to its name for good. */
export async function promoteFile(
  from: string,
  to: string,
  step: string,
  files: FileEffects = realEffects.files,
): Promise<PromotedFile> {
  const [promoted] = await promoteFiles([{ from, to }], step, files);
  const { sha256, bytes } = promoted as PromotedFile;
  return { sha256, bytes };
}

/**
 * Moves finished files to their names for good: fsync, rename, fsync of each folder. Only then may a committed row name
 * them. Results are in the order of the moves.
 */
export async function promoteFiles<Move extends { from: string; to: string }>(
  moves: readonly Move[],
  step: string,
  files: FileEffects = realEffects.files,
): Promise<(Move & PromotedFile)[]> {
  const promoted: (Move & PromotedFile)[] = [];
  await severalAtOnce(moves, async (move, index) => {
    await files.syncFile(move.from, `${step}: fsynced`);
    promoted[index] = { ...move, sha256: await sha256Of(move.from), bytes: (await stat(move.from)).size };
  });
  const folders = new Set(moves.map(({ to }) => dirname(to)));
  // A folder that is new is an entry of the one above, which may vanish at power loss as well.
  const above = new Set<string>();
  for (const target of folders) {
    const made = await files.makeDirectory(target);
    if (made === undefined) continue;
    for (let folder = target; folder.startsWith(made); folder = dirname(folder)) above.add(dirname(folder));
  }
  await severalAtOnce(moves, ({ from, to }) => files.rename(from, to, `${step}: renamed`));
  await severalAtOnce([...folders], (folder) => files.syncDirectory(folder, `${step}: folder synced`));
  await severalAtOnce([...above], (folder) => files.syncDirectory(folder, `${step}: folder above synced`));
  return promoted;
}
