import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { FleetPart } from '../../kit/config/fleet-part.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { StateDatabase } from '../warehouse/database.ts';

/** Steps of a run that use object storage, where that is configured. */
interface RunOnStorage extends Disposable {
  /** Called with the state open, before the work. */
  begin(state: StateDatabase): Promise<void>;
  /** Called with the state open, after the work: reads what `publish` needs. */
  note(state: StateDatabase): Promise<void>;
  /**
   * Called after the state is closed. Throws `LostSwapError` with this run discarded, `StorageError` where the run is
   * done here and is not in storage. With `sweep` removes objects that nothing needs any more.
   */
  publish(options: { sweep: boolean }): Promise<void>;
}

export type OpenRunOnStorage = (
  settings: Settings & { storage: NonNullable<Settings['storage']> },
  opening: { data: DataDirectory; logger: Logger; effects: Effects },
) => Promise<RunOnStorage>;

export const storageOfRuns = new FleetPart<OpenRunOnStorage>('storage');

/**
 * Makes the state here that of storage and returns what publishes the run there; undefined where no storage is
 * configured. The caller holds the writer lock. Throws `UsageError` where this machine only follows, `LostSwapError`
 * where another schedule has taken over.
 */
export async function runOnStorage(
  settings: Settings,
  opening: Parameters<OpenRunOnStorage>[1],
): Promise<RunOnStorage | undefined> {
  const { storage } = settings;
  if (storage === undefined) return undefined;
  return (await storageOfRuns.load())({ ...settings, storage }, opening);
}
