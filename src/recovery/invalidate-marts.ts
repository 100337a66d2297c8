import type { DuckDBConnection } from '@duckdb/node-api';
import { martsChangeKey } from '../models/models-stage.ts';
import type { NamedFile } from '../warehouse/named-files.ts';

/** Drops mart files that cannot be restored and marks their days, so that the next run of the models writes them again. To be run in a transaction. */
export async function invalidateMarts(connection: DuckDBConnection, lost: readonly NamedFile[]): Promise<void> {
  for (const { table, group, day, path } of lost) {
    if (table === 'event_files') continue;
    await connection.run(`DELETE FROM ${table} WHERE path = $1`, [path]);
    if (group === 'report_daily')
      await connection.run(`INSERT OR REPLACE INTO outdated_reports VALUES ($1::DATE, 'clicks', 0)`, [day]);
    else if (group.startsWith('postback'))
      await connection.run('INSERT OR IGNORE INTO touched_postback_days VALUES ($1, $2::DATE)', [group, day]);
    else await connection.run('INSERT OR IGNORE INTO touched_days VALUES ($1::DATE)', [day]);
  }
  if (lost.length > 0) await connection.run('DELETE FROM warehouse_facts WHERE fact = $1', [martsChangeKey]);
}
