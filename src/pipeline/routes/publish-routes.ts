import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, replaceFile, type FileEffects } from '../../kit/files/effects.ts';
import { makeClickKeys } from './click-keys.ts';
import { readRoutesHead, routesText, type RoutesHead } from './routes-file.ts';

const ending = '.json';

/**
 * Writes the routes of a snapshot, readable for their owner alone: destinations are never published. The running
 * tracker reads them when `current` names them.
 */
export async function writeRoutes(
  data: DataDirectory,
  about: Pick<RoutesHead, 'snapshot_id' | 'as_of'>,
  lines: readonly Buffer[],
  files: FileEffects,
): Promise<void> {
  // A link may be minted as soon as there are routes: whatever brings them to another machine brings its key, too.
  if (!existsSync(data.clickKeysFile)) await makeClickKeys(data, files);
  await putRoutes(data, about.snapshot_id, routesText(about, lines), files);
}

/** Makes these the routes that trackers follow; those of other snapshots go. */
export async function putRoutes(
  data: DataDirectory,
  snapshotId: string,
  text: Buffer,
  files: FileEffects,
): Promise<void> {
  makePrivateFolder(data.tracker);
  makePrivateFolder(data.routes);
  const name = snapshotId + ending;
  await replaceFile(join(data.routes, name), text, 'routes', files, 0o600);
  const next = `${data.currentRoutes}.next`;
  await files.remove(next, 'routes link: leftover removed');
  await files.symbolicLink(name, next, 'routes link: made');
  await files.rename(next, data.currentRoutes, 'routes link: renamed');
  await files.syncDirectory(data.routes, 'routes link: synced');
  await sweepOthers(data, name, files);
}

/** Returns true where the routes that trackers follow are those of this snapshot, by their first line. */
export async function haveRoutesOf(data: DataDirectory, snapshotId: string): Promise<boolean> {
  try {
    return (await readRoutesHead(data.currentRoutes)).snapshot_id === snapshotId;
  } catch {
    return false;
  }
}

/** A tracker that is reading an older one has it open, and keeps it. */
async function sweepOthers(data: DataDirectory, name: string, files: FileEffects): Promise<void> {
  for (const other of await readdir(data.routes))
    if (other !== name && other.includes(ending)) await files.remove(join(data.routes, other), 'old routes: removed');
}
