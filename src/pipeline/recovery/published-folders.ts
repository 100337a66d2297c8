import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { currentName, manifestOf, snapshotNames } from '../snapshot/snapshot-store.ts';
import type { Manifest } from '../snapshot/manifest.ts';
import { verifySnapshot } from '../snapshot/verify.ts';
import { aheadOfClock } from '../../kit/time/ahead-of-clock.ts';

export interface PublishedFolder {
  path: string;
  manifest: Manifest;
}

/**
 * Returns published snapshots with a readable manifest, the newest first; their files are not checked. Leaves out those
 * newer than the current one, which were built and never became current.
 */
export async function publishedFolders(data: DataDirectory): Promise<PublishedFolder[]> {
  const folders: PublishedFolder[] = [];
  for (const name of await snapshotNames(data)) {
    try {
      folders.push({ path: join(data.published, name), manifest: await manifestOf(data, name) });
    } catch {
      // Half-built, damaged or of another version; the doctor reports it.
    }
  }
  const current = await currentName(data);
  const switched = folders.find(({ manifest }) => manifest.snapshot_id === current)?.manifest.run_id ?? Infinity;
  return folders
    .filter(({ manifest }) => manifest.run_id <= switched)
    .toSorted((a, b) => b.manifest.run_id - a.manifest.run_id);
}

/** Returns the newest snapshot whose needed files match its manifest, byte for byte. */
export function newestGoodSnapshot(
  data: DataDirectory,
  isNeeded: (path: string) => boolean,
): Promise<PublishedFolder | undefined> {
  return newestGood(data, isNeeded, () => true);
}

/**
 * Returns the newest good snapshot that is not ahead of the clock: a snapshot of the future keeps refreshes from
 * running. `now` in milliseconds since the epoch.
 */
export function newestGoodToPublish(data: DataDirectory, now: number): Promise<PublishedFolder | undefined> {
  return newestGood(data, undefined, ({ manifest }) => aheadOfClock(manifest.as_of, now) === 0);
}

async function newestGood(
  data: DataDirectory,
  isNeeded: ((path: string) => boolean) | undefined,
  isEligible: (folder: PublishedFolder) => boolean,
): Promise<PublishedFolder | undefined> {
  for (const folder of (await publishedFolders(data)).filter(isEligible)) {
    try {
      await verifySnapshot(folder.path, isNeeded);
      return folder;
    } catch {
      // The next older one may be whole.
    }
  }
  return undefined;
}
