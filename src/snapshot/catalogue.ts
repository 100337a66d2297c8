import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import type { FileEffects } from '../files/effects.ts';
import { isUnfinishedName } from '../landing/files/find-files.ts';
import { manifestFile, parseManifest, type Manifest } from './manifest.ts';

/**
 * Names of the snapshots' folders, the oldest first: they sort by publication. Half-built and damaged ones are among
 * them; none where nothing was published. Folders that are named as unfinished ones are (`.x`, `_x`, `x.tmp`, `x.part`)
 * are not ours.
 */
export async function snapshotNames(data: DataDirectory): Promise<string[]> {
  const entries = await readdir(data.published, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !isUnfinishedName(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

/**
 * The name of the snapshot that `published/current` names, whether or not it is there; undefined while nothing was
 * published.
 */
export function currentName(data: DataDirectory): Promise<string | undefined> {
  return readlink(data.current).catch(() => undefined);
}

/**
 * The manifest of a snapshot by its name. Throws the disk's error, or the parser's where the text is not as it was
 * written.
 */
export async function manifestOf(data: DataDirectory, name: string): Promise<Manifest> {
  return parseManifest(await readFile(join(data.published, name, manifestFile), 'utf8'));
}

/**
 * The manifest of the snapshot that `published/current` names; undefined while nothing was published or it cannot be
 * read.
 */
export async function currentManifest(data: DataDirectory): Promise<Manifest | undefined> {
  const name = await currentName(data);
  return name === undefined ? undefined : manifestOf(data, name).catch(() => undefined);
}

/**
 * Has `published/current` name another snapshot. A link cannot be changed in place: a new one takes the old one's name
 * in a single step.
 */
export async function switchCurrent(data: DataDirectory, name: string, files: FileEffects): Promise<void> {
  const next = `${data.current}.next`;
  await files.remove(next, 'current link: leftover removed');
  await files.symbolicLink(name, next, 'current link: made');
  await files.rename(next, data.current, 'current link: switched');
  await files.syncDirectory(data.published, 'current link: synced');
}
