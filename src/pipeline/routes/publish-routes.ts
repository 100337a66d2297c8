import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, replaceFile, type FileEffects } from '../../kit/files/effects.ts';
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
  makePrivateFolder(data.tracker);
  makePrivateFolder(data.routes);
  const name = about.snapshot_id + ending;
  await replaceFile(join(data.routes, name), routesText(about, lines), 'routes', files, 0o600);
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
