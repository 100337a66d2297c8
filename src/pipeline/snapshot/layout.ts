import type { DuckDBConnection } from '@duckdb/node-api';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { postbackMarts } from '../models/postback-marts.ts';
import { compactText, dayOf, type Moment } from '../../kit/time/moment.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { runNumberText } from '../../kit/text/run-number.ts';

/** Returns the name of a snapshot's folder. Names sort by publication, since run numbers only grow. */
export function snapshotIdOf(runId: number, asOf: Moment): string {
  return `${runNumberText(runId)}-${compactText(asOf)}`;
}

/** A Parquet file of the warehouse that a snapshot shares by a hard link. */
export interface LinkedFile {
  /** `events/<kind>` or `marts/<mart>`. */
  group: string;
  warehousePath: string;
  /** Within the snapshot's folder. */
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
}

/**
 * Returns all files that the snapshot's views read, with the digests from when they were written. Leaves out marts of days
 * after as-of, from a run with a later one, but for those of postbacks: sent is sent.
 */
export async function linkedFiles(
  connection: DuckDBConnection,
  data: DataDirectory,
  asOf: Moment,
): Promise<LinkedFile[]> {
  const db = kyselyOn(connection);
  const about = ['day', 'path', 'rows', 'bytes', 'sha256'] as const;
  const rows = await db
    .selectFrom('event_files')
    .select((file) => [file.val('events').as('folder'), file.cast<string>('kind', 'text').as('group'), ...about])
    .unionAll(
      db
        .selectFrom('mart_files')
        .select((file) => [file.val('marts').as('folder'), 'mart as group', ...about])
        .where((file) => file.or([file('day', '<=', dayOf(asOf)), file('mart', 'in', postbackMarts)])),
    )
    .orderBy('folder')
    .orderBy('group')
    .orderBy('day')
    .orderBy('path')
    .execute();
  return rows.map(({ folder, group, day, path, ...file }) => ({
    ...file,
    group: `${folder}/${group}`,
    warehousePath: join(data.warehouse, path),
    path: `${folder}/${group}/${day}-${basename(path)}`,
  }));
}
