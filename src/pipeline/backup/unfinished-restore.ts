import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';

/** Name of the first file of a backup: what it holds. */
export const backupManifestFile = 'offerline-backup.json';

/** Returns whether a restore has checked all files and not yet moved each to its place. */
export function isMoving({ restored }: DataDirectory): boolean {
  return existsSync(join(restored, backupManifestFile));
}

/** Throws `UsageError` where a restore ended before the data directory was whole: a run would begin an empty one. */
export function assertRestored(data: DataDirectory): void {
  if (!existsSync(data.restoreDraft) && !isMoving(data)) return;
  throw new UsageError(
    `a restore into ${data.root} has not ended: run \`offerline restore\` with the same backup again, which completes it`,
  );
}
