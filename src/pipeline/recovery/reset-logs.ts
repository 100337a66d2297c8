import type { DuckDBConnection } from '@duckdb/node-api';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { bumpRevision } from '../warehouse/metadata.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { invalidateAllMarts } from '../warehouse/dirty-partitions.ts';

/** Throws `UsageError` where the landing folder lacks logs with accepted rows. */
export async function assertLogsLanded(connection: DuckDBConnection, data: DataDirectory): Promise<void> {
  const counted = await kyselyOn(connection)
    .selectFrom('ingest_files')
    .select(['path', 'accepted as rows'])
    .where('kind', '<>', 'offers')
    .where('accepted', '>', 0)
    .orderBy('path')
    .execute();
  const missing = counted.filter(({ path }) => !existsSync(join(data.landing, path)));
  if (missing.length === 0) return;
  const rows = missing.reduce((sum, file) => sum + file.rows, 0);
  throw new UsageError(
    `${missing.length} logs with ${rows} rows that count are not in ${data.landing} any more, the first ${missing[0]?.path}: put them back, or accept that these rows are lost with \`offerline rebuild --from-landing --without-missing\``,
  );
}

/** Tables that ingest fills from logs. */
const tablesOfLogs = [
  'event_files',
  'key_runs',
  'conversion_events',
  'conversion_clicks',
  'conversion_states',
  'waiting_clicks',
  'postbacks_undecided',
  'click_hourly',
  'landing_seen',
] as const;

/**
 * Makes the next ingest read every log again. Catalog, ids, runs and the outbox stay. A decided event makes no second
 * postback; an undecided one goes on waiting.
 */
export async function resetLogs(state: StateDatabase): Promise<void> {
  const { connection, db } = state;
  await state.transaction(async () => {
    await connection.run(
      `INSERT OR IGNORE INTO settled_events
       SELECT conversion_id, kind FROM conversion_events WHERE (conversion_id, kind) NOT IN (SELECT (conversion_id, kind) FROM postbacks_undecided)`,
    );
    // Includes days that get no rows any more.
    await invalidateAllMarts(connection);
    const logs = db.selectFrom('ingest_files').select('file_id').where('kind', '<>', 'offers');
    for (const table of ['rejects', 'ingest_warnings'] as const)
      await db.deleteFrom(table).where('file_id', 'in', logs).execute();
    await db.deleteFrom('ingest_files').where('kind', '<>', 'offers').execute();
    for (const table of tablesOfLogs) await db.deleteFrom(table).execute();
    await bumpRevision(connection);
  }, 'logs reset');
}
