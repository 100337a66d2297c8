import type { DuckDBConnection } from '@duckdb/node-api';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import { quoted } from '../text/sql-text.ts';
import { postbackMarts } from '../models/postback-marts.ts';
import { dayOf, type Moment } from '../time/moment.ts';
import { queryRows } from '../duckdb/dialect/rows.ts';

export { analyticsFile } from './manifest.ts';

/** Folder names sort in the order of publication: run numbers only grow. */
export function snapshotIdOf(runId: number, asOf: Moment): string {
  return `${String(runId).padStart(8, '0')}-${asOf.replace(/\..*$|Z$/, '').replaceAll(/[-:]/g, '')}Z`;
}

/** A Parquet file of the warehouse that becomes part of a snapshot by a hard link: whole in itself, nothing copied. */
export interface LinkedFile {
  /** Events by kind, marts by name. */
  group: string;
  warehousePath: string;
  /** Within the snapshot's folder. */
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
}

/**
 * Everything the snapshot's views read, with digests that were taken when the files were written. Marts of days after
 * as-of, left by a run that was further on, have nothing to say in it, but for those of postbacks: what was sent was sent.
 */
export async function linkedFiles(
  connection: DuckDBConnection,
  data: DataDirectory,
  asOf: Moment,
): Promise<LinkedFile[]> {
  const rows = await queryRows<{
    folder: string;
    group: string;
    day: string;
    path: string;
    rows: number;
    bytes: number;
    sha256: string;
  }>(
    connection,
    `SELECT 'events' AS folder, kind AS "group", day::VARCHAR AS day, path, rows, bytes, sha256 FROM event_files
     UNION ALL
     SELECT 'marts', mart, day::VARCHAR, path, rows, bytes, sha256 FROM mart_files WHERE day <= DATE '${dayOf(asOf)}' OR mart IN (${postbackMarts.map(quoted).join(', ')})
     ORDER BY 1, 2, 3, 4`,
  );
  return rows.map(({ folder, group, day, path, ...about }) => ({
    ...about,
    group: `${folder}/${group}`,
    warehousePath: join(data.warehouse, path),
    path: `${folder}/${group}/${day}-${basename(path)}`,
  }));
}
