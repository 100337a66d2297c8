import { join } from 'node:path';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Run } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { checkNamedFile, damagedFileCure } from '../warehouse/named-files.ts';
import { writeKeysAgain } from '../warehouse/keys/upkeep.ts';
import { linkedFiles } from './layout.ts';
import { clickKeys } from './manifest.ts';
import { DamagedSnapshotError, verifyOwnFiles } from './verify.ts';

/** Returns whether the published snapshot is whole. Where it is not, the caller publishes the same content again. */
export async function isCurrentIntact(run: Run, snapshotId: string): Promise<boolean> {
  try {
    await verifyOwnFiles(join(run.data.published, snapshotId));
    return true;
  } catch (error) {
    if (!(error instanceof DamagedSnapshotError)) throw error;
    run.logger.warn(
      { snapshot: snapshotId },
      'the published snapshot is damaged; publishing it again: %s',
      error.message,
    );
    return false;
  }
}

/**
 * Makes sure that a new snapshot shares no damaged file with the old one: keys are written again from the events.
 * Throws `OfferlineError` naming any other file.
 */
export async function assertSharedFilesWhole(run: Run, state: StateDatabase): Promise<void> {
  const { connection } = state;
  let areKeysWhole = true;
  for (const file of await linkedFiles(connection, run.data, run.asOf)) {
    if ((await checkNamedFile(file.warehousePath, file, true)) === undefined) continue;
    if (file.group === clickKeys) {
      areKeysWhole = false;
      continue;
    }
    throw new OfferlineError(`${file.warehousePath} is damaged, and every snapshot shares it: ${damagedFileCure}`);
  }
  if (!areKeysWhole) await state.transaction(() => writeKeysAgain({ ...run, connection }, 'clicks', run.runId), 'keys');
}
