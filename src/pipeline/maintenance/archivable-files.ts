import { findLandingFiles } from '../landing/files/find-files.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { StateDatabase } from '../warehouse/database.ts';

/** A landing file that no run needs any more. */
interface ArchivableFile {
  /** Under the landing folder. */
  path: string;
  bytes: number;
  /** Milliseconds since the epoch. */
  modified: number;
}

/**
 * Returns landing files that were last changed before a moment, in milliseconds since the epoch, and were read as they
 * are now. Leaves out the newest catalog file of each source and the one that decided last, files that wait for an
 * operator, and paths within landing for which `isNeeded` is true. The caller archives them, and must not delete them:
 * rebuilding the warehouse from landing needs them.
 */
export async function archivableFiles(
  data: DataDirectory,
  { db }: StateDatabase,
  before: number,
  isNeeded: (path: string) => boolean,
): Promise<ArchivableFile[]> {
  const held = db.selectFrom('ingest_files').select('path').where('status', '=', 'held');
  const deciding = db
    .selectFrom('ingest_files')
    .select((file) => file.fn<string>('arg_max', ['path', 'file_id']).as('path'))
    .where('kind', '=', 'offers')
    .where('status', '=', 'loaded')
    .groupBy('source');
  const rows = await db
    .selectFrom('landing_seen')
    .select((file) => ['path', 'bytes', file.cast<string>('modified_ns', 'text').as('modified_ns')])
    .where('path', 'not in', held)
    .where('path', 'not in', deciding)
    .execute();
  const taken = new Map(rows.map(({ path, bytes, modified_ns }) => [path, `${bytes} ${modified_ns}`]));
  const { files } = await findLandingFiles(data.landing, () => true);
  const newestExports = new Map<string | null, bigint>();
  for (const { kind, source, modifiedNs } of files) {
    if (kind === 'offers' && modifiedNs > (newestExports.get(source) ?? -1n)) newestExports.set(source, modifiedNs);
  }
  return files
    .map(({ path, bytes, modifiedNs, kind, source }) => ({
      path,
      bytes,
      modifiedNs,
      needed: (kind === 'offers' && newestExports.get(source) === modifiedNs) || isNeeded(path),
    }))
    .filter(
      ({ path, bytes, modifiedNs, needed }) =>
        !needed && modifiedNs < BigInt(before) * 1_000_000n && taken.get(path) === `${bytes} ${modifiedNs}`,
    )
    .map(({ path, bytes, modifiedNs }) => ({ path, bytes, modified: Number(modifiedNs / 1_000_000n) }));
}
