import type { IngestSummary } from '../src/pipeline/ingest/ingest-stage.ts';
import { fileCure } from '../src/pipeline/inspect/file-cure.ts';
import { queryRows } from '../src/kit/duckdb/dialect/rows.ts';
import type { OpenRun } from './run-pipeline.ts';

/**
 * Returns what a run that did its work leaves badly wrong, as sentences: none of its files could be read, or no offer
 * is left to show.
 */
export async function alarmsOf(
  { run: { runId }, state: { connection } }: Pick<OpenRun, 'run' | 'state'>,
  { files, quarantined }: Pick<IngestSummary, 'files' | 'quarantined'>,
): Promise<string[]> {
  const alarms: string[] = [];
  if (files > 0 && quarantined === files) {
    const [last] = await queryRows<{ path: string; reason: string }>(
      connection,
      `SELECT path, reason FROM ingest_files WHERE run_id = ${runId} AND status = 'quarantined' ORDER BY file_id DESC LIMIT 1`,
    );
    const which = quarantined === 1 ? 'the one new file' : `all ${files} new files`;
    const named = last === undefined ? '' : `, the last ${last.path} (${last.reason}): ${fileCure(last.reason)}`;
    alarms.push(`NOTHING WAS LOADED: ${which} cannot be read${named}`);
  }
  const [active] = await queryRows<{ offers: number }>(
    connection,
    `SELECT count(*) AS offers FROM (SELECT arg_max(status, version) AS status FROM offer_versions GROUP BY offer_id) WHERE status = 'active'`,
  );
  if (active?.offers === 0)
    alarms.push(
      'NO OFFER IS ACTIVE, so every feed is empty: land a catalog in landing/offers/<source>/, whose fields are in data/fields.md, which the console has as /fields, or add a network by `offerline sources new`',
    );
  return alarms;
}
