import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { severalAtOnce } from '../../kit/files/several-at-once.ts';
import {
  partialName,
  partialNames,
  currentName,
  retiredName,
  retiredNames,
  snapshotNames,
  switchCurrent,
} from '../../pipeline/snapshot/snapshot-store.ts';
import { writeLake } from '../../pipeline/snapshot/lake/write-lake.ts';
import { manifestFile, parseManifest, type Manifest } from '../../pipeline/snapshot/manifest.ts';
import { DamagedSnapshotError, verifySnapshot } from '../../pipeline/snapshot/verify.ts';
import { fetchFile, readContent } from './contents.ts';
import type { ObjectStore } from './object-store.ts';
import type { PointedSnapshot } from './pointer.ts';
import { isWithin } from './within.ts';

export interface BringingSnapshots {
  data: DataDirectory;
  effects: Effects;
  store: ObjectStore;
  /** Paths, by digest, of files outside of `published` that are linked instead of fetched. */
  here?: ReadonlyMap<string, string>;
}

/**
 * Makes a snapshot of storage the current one here. Files that snapshots here have already are linked, the others
 * fetched; the folder takes its name once it is verified. Throws `StorageError`, or `DamagedSnapshotError`.
 */
export async function bringSnapshot(
  { data, effects, store, here = new Map<string, string>() }: BringingSnapshots,
  { snapshot_id: name, manifest: content }: PointedSnapshot,
): Promise<void> {
  const { files } = effects;
  const folder = join(data.published, name);
  const text = (await readContent(store, content)).toString();
  if ((await readFile(join(folder, manifestFile), 'utf8').catch(() => undefined)) !== text) {
    // Only one process brings snapshots here: what was half-fetched or half-removed is of one that has ended.
    for (const leftover of [...(await partialNames(data)), ...(await retiredNames(data))])
      await files.remove(join(data.published, leftover), 'storage: leftover snapshot removed');
    const draft = join(data.published, partialName(name));
    const paths = Object.entries(readManifest(text, folder).files);
    const published = await filesHere(data);
    const folders = [...new Set(['', ...paths.map(([path]) => dirname(path))])].map((path) => join(draft, path));
    for (const each of folders) await files.makeDirectory(each);
    await severalAtOnce(paths, async ([path, { sha256, bytes }]) => {
      const target = join(draft, path);
      const same = here.get(sha256) ?? published.get(sha256);
      if (same !== undefined) await files.hardLink(same, target, 'storage: snapshot file linked');
      else await fetchFile(store, { sha256, bytes }, target, files);
    });
    await files.writeFile(join(draft, manifestFile), text, 'storage: manifest written');
    // Its name says that it is whole, also after a loss of power.
    for (const each of folders) await files.syncDirectory(each, 'storage: folder of the snapshot synced');
    await verifySnapshot(draft);
    // The lake may name files of the folder that goes.
    if (existsSync(folder))
      await writeLake(
        data,
        (await snapshotNames(data)).filter((other) => other !== name),
        effects,
      );
    await files.remove(folder, 'storage: other snapshot of that name removed');
    await files.rename(draft, folder, 'storage: snapshot renamed');
    await files.syncDirectory(data.published, 'storage: published folder synced');
  }
  if ((await currentName(data)) !== name) await switchCurrent(data, name, files);
}

/** Throws `DamagedSnapshotError`: what storage has may be of a later version, or of somebody else. */
function readManifest(text: string, folder: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = parseManifest(text);
  } catch (error) {
    throw new DamagedSnapshotError(folder, `${manifestFile} cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const outside = Object.keys(manifest.files).find((path) => !isWithin(path));
  if (outside !== undefined)
    throw new DamagedSnapshotError(folder, `${manifestFile} names ${outside}, which is outside of the folder`);
  return manifest;
}

/** Path of a file of that digest in a snapshot here. */
async function filesHere(data: DataDirectory): Promise<Map<string, string>> {
  const here = new Map<string, string>();
  for (const name of await snapshotNames(data)) {
    const manifest = await manifestHere(data, name);
    for (const [path, { sha256 }] of Object.entries(manifest?.files ?? {}))
      here.set(sha256, join(data.published, name, path));
  }
  return here;
}

/** Of a snapshot that is whole. */
async function manifestHere(data: DataDirectory, name: string): Promise<Manifest | undefined> {
  try {
    return await verifySnapshot(join(data.published, name));
  } catch (error) {
    if (error instanceof DamagedSnapshotError) return undefined;
    throw error;
  }
}

/** Removes a snapshot, which the lake must not name any more. */
export async function removeSnapshot(data: DataDirectory, name: string, { files }: Effects): Promise<void> {
  const leaving = join(data.published, retiredName(name));
  await files.rename(join(data.published, name), leaving, 'old snapshot: renamed');
  await files.remove(leaving, 'old snapshot: removed');
}
