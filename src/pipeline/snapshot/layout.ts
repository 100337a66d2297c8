import type { DuckDBConnection } from '@duckdb/node-api';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { postbackMarts } from '../models/postback-marts.ts';
import { compactText, dayOf, type Moment } from '../../kit/time/moment.ts';
import { clickKeys } from './manifest.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { runNumberText } from '../../kit/text/run-number.ts';

/** Returns the name of a snapshot's folder. Names sort by publication, since run numbers only grow. */
export function snapshotIdOf(runId: number, asOf: Moment): string {
  return `${runNumberText(runId)}-${compactText(asOf)}`;
}

/** Returns the as-of in a snapshot's name, to the second, in milliseconds since the epoch; NaN for another name. */
export function asOfOfSnapshot(id: string): number {
  const [, day, hour, minute, second] = /^\d+-(\d{8})T(\d{2})(\d{2})(\d{2})Z$/.exec(id) ?? [];
  const date = day?.replace(/(....)(..)(..)/, '$1-$2-$3');
  return Date.parse(`${date}T${hour}:${minute}:${second}Z`);
}

/**
 * SQL of the UTC day that a file of events or of a mart is of, with which its name in a snapshot begins. A filter on it
 * is decided by names alone: files of other days are not opened, which over HTTP takes longer than to read those asked
 * for.
 */
export const dayOfFile = 'left(parse_filename(filename), 10)::DATE';

/** A file of the warehouse that becomes part of a snapshot by a hard link: whole in itself, nothing copied. */
export interface LinkedFile {
  /** Events and their keys by kind, marts by name. */
  group: string;
  warehousePath: string;
  /** Within the snapshot's folder. */
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
}

/**
 * Everything the snapshot's views read, and the keys by which clicks are looked up, with digests that were taken when
 * the files were written. Marts of days after as-of, left by a run that was further on, have nothing to say in it, but
 * for those of postbacks: what was sent was sent.
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
  const keyRuns = await db
    .selectFrom('key_runs')
    .select(['path', 'entries as rows', 'bytes', 'sha256'])
    .where('kind', '=', 'clicks')
    .orderBy('path')
    .execute();
  return [
    ...rows.map(({ folder, group, day, path, ...file }) => ({
      ...file,
      group: `${folder}/${group}`,
      warehousePath: join(data.warehouse, path),
      path: `${folder}/${group}/${day}-${basename(path)}`,
    })),
    ...keyRuns.map(({ path, ...file }) => ({
      ...file,
      group: clickKeys,
      warehousePath: join(data.warehouse, path),
      path: `${clickKeys}/${basename(path)}`,
    })),
  ];
}
