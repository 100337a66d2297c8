import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import type { CheckedLanding } from '../../landing/files/check-files.ts';
import type { LandingFile } from '../../landing/landing-file.ts';
import { asLines } from '../../landing/lines/to-ndjson.ts';
import { quoted } from '../../../kit/text/sql-text.ts';
import type { StateDatabase } from '../../warehouse/database.ts';

const reason = 'unreadable';

/**
 * Files that could not be opened, and that lay there so when an earlier run looked: they get a row in the ledger, once.
 * One that has just landed may be given its rights in the next moment.
 */
export async function unreadableFiles(
  { connection }: StateDatabase,
  files: readonly (LandingFile & { unreadable?: string })[],
): Promise<CheckedLanding['broken']> {
  const closed = files.filter(({ unreadable }) => unreadable !== undefined);
  if (closed.length === 0) return [];
  const [last] = await queryRows<{ began: string | null }>(
    connection,
    `SELECT epoch_ns(max(started_at))::VARCHAR AS began FROM runs WHERE pipeline IN ('refresh', 'ingest') AND status IN ('done', 'failed')`,
  );
  const known = await queryRows<{ path: string }>(
    connection,
    `SELECT path FROM ingest_files WHERE file_id IN (SELECT max(file_id) FROM ingest_files GROUP BY kind, path)
       AND status = 'quarantined' AND starts_with(reason, ${quoted(`${reason}:`)})`,
  );
  const knownPaths = new Set(known.map(({ path }) => path));
  return closed
    .filter(({ path, changedNs }) => changedNs < BigInt(last?.began ?? 0) && !knownPaths.has(path))
    .map(({ unreadable, ...file }) => ({
      file: { ...file, ...asLines(file), sha256: '' },
      reason,
      detail: `it cannot be opened (${unreadable}): let the user who runs offerline read it`,
    }));
}
