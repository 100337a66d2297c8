import { readFile } from 'node:fs/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { takeClickKeys } from '../../pipeline/routes/click-keys.ts';
import { haveRoutesOf, putRoutes } from '../../pipeline/routes/publish-routes.ts';
import { contentOf, readContent } from './contents.ts';
import type { ObjectStore } from './object-store.ts';
import type { Content, Pointer } from './pointer.ts';

/** Apart from what analysts may be let into: keys are secrets, and destinations are never published. */
export const trackerPrefix = 'tracker/';

/** Returns the keys of click ids and the current routes here; undefined where nothing was published yet. */
export async function trackerFilesHere(
  data: DataDirectory,
): Promise<Record<keyof NonNullable<Pointer['tracker']>, { content: Content; bytes: Buffer }> | undefined> {
  try {
    const [keys, routes] = await Promise.all([readFile(data.clickKeysFile), readFile(data.currentRoutes)]);
    return {
      keys: { content: contentOf(keys), bytes: keys },
      routes: { content: contentOf(routes), bytes: routes },
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes the keys and routes of storage those of this machine, so that a tracker that takes over here knows the clicks
 * of the one before and where links lead. Throws `StorageError`, and `UsageError` where keys here cannot be used.
 */
export async function bringTrackerFiles(
  { data, store, effects }: { data: DataDirectory; store: ObjectStore; effects: Effects },
  { tracker, snapshots: [newest] }: Pointer,
): Promise<void> {
  if (tracker === undefined || newest === undefined) return;
  const keys = await readContent(store, tracker.keys, trackerPrefix);
  await takeClickKeys(data, keys.toString(), `${store.url}/${trackerPrefix}${tracker.keys.sha256}`, effects.files);
  if (await haveRoutesOf(data, newest.snapshot_id)) return;
  await putRoutes(data, newest.snapshot_id, await readContent(store, tracker.routes, trackerPrefix), effects.files);
}
