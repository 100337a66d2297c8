import { join } from 'node:path';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Run } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { checkNamedFile } from '../warehouse/named-files.ts';
import { linkedFiles } from './layout.ts';
import { DamagedSnapshotError, verifyOwnFiles } from './verify.ts';

/**
 * Whether the published snapshot can go on being served. Where it cannot, one with the same content takes its place.
 */
export async function isCurrentIntact(run: Run, snapshotId: string): Promise<boolean> {
  try {
    await verifyOwnFiles(join(run.data.published, snapshotId));
    return true;
  } catch (error) {
    if (!(error instanceof DamagedSnapshotError)) throw error;
    run.logger.warn(
      { snapshot: snapshotId },
      'the published snapshot is damaged, so it is published again: %s',
      error.message,
    );
    return false;
  }
}

/** A new snapshot would share a damaged file with the old one. Throws `OfferlineError` naming it. */
export async function assertSharedFilesWhole(run: Run, { connection }: StateDatabase): Promise<void> {
  for (const file of await linkedFiles(connection, run.data, run.asOf)) {
    if ((await checkNamedFile(file.warehousePath, file, true)) === undefined) continue;
    throw new OfferlineError(
      `${file.warehousePath} is damaged, and every snapshot shares it: \`offerline doctor --deep --repair\` puts it aside and says how its rows come back`,
    );
  }
}
