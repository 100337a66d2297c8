import type { DuckDBConnection } from '@duckdb/node-api';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { bumpRevision } from '../warehouse/metadata.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { invalidateAllMarts } from '../warehouse/stale-partitions.ts';

/** Throws `UsageError` where logs that counted are no longer in the landing folder. */
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

/** What came of the logs and comes again with them. */
const fromLogs = [
  'event_files',
  'key_runs',
  'conversion_events',
  'conversion_clicks',
  'waiting_clicks',
  'postbacks_undecided',
  'click_hourly',
  'landing_seen',
] as const;

/**
 * Has the next ingest read every log again as if none had come yet. Catalog, ids, runs and the outbox stay. An event
 * that was decided makes no postback again; one that waits goes on waiting.
 */
export async function resetLogs(state: StateDatabase): Promise<void> {
  const { connection, db } = state;
  await state.transaction(async () => {
    await connection.run(
      `INSERT OR IGNORE INTO settled_events
       SELECT conversion_id, kind FROM conversion_events WHERE (conversion_id, kind) NOT IN (SELECT (conversion_id, kind) FROM postbacks_undecided)`,
    );
    // Also of days that get nothing any more, the marts have to be written again.
    await invalidateAllMarts(connection);
    const logs = db.selectFrom('ingest_files').select('file_id').where('kind', '<>', 'offers');
    for (const table of ['rejects', 'ingest_warnings'] as const)
      await db.deleteFrom(table).where('file_id', 'in', logs).execute();
    await db.deleteFrom('ingest_files').where('kind', '<>', 'offers').execute();
    for (const table of fromLogs) await db.deleteFrom(table).execute();
    await bumpRevision(connection);
  }, 'logs reset');
}
