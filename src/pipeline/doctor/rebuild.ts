import { unnamedFiles } from '../warehouse/named-files.ts';
import { QuarantineFolder } from '../../kit/files/quarantine-folder.ts';
import { assertLogsLanded, resetLogs } from '../recovery/reset-logs.ts';
import { openWarehouse, recoverState, type Opening } from '../recovery/recover-state.ts';

interface RebuildRequest {
  /** Reads all logs again. */
  fromLanding: boolean;
  /** Allows a landing folder that lacks logs with accepted rows. */
  withoutMissing: boolean;
}

/**
 * Recovers the state from the newest good copy and the published snapshot; or keeps it, and makes the next ingest read
 * all logs again. The caller holds the writer lock; the next refresh computes and publishes. Throws `UsageError`, with
 * nothing changed, where the landing folder lacks logs with accepted rows.
 */
export async function rebuild(opening: Opening, { fromLanding, withoutMissing }: RebuildRequest): Promise<void> {
  const { data, effects } = opening;
  if (!fromLanding) {
    const state = await recoverState(opening, 'a rebuild was asked for');
    await state.close();
    return;
  }
  const state = await openWarehouse({ ...opening, withoutMissing });
  try {
    if (!withoutMissing) await assertLogsLanded(state.connection, data);
    await resetLogs(state);
    const aside = await QuarantineFolder.make(data, 'a rebuild from the landing folder was asked for', effects);
    for (const path of await unnamedFiles(state.connection, data)) await aside.moveIn(path);
  } finally {
    await state.close();
  }
}
