import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { checkNamedFile, type FileTrouble, type NamedFile } from '../warehouse/named-files.ts';
import type { QuarantineFolder } from '../../kit/files/quarantine-folder.ts';
import { publishedFolders } from './published-folders.ts';

export interface TroubledFile extends NamedFile {
  trouble: FileTrouble;
}

export async function troubledFiles(
  data: DataDirectory,
  named: readonly NamedFile[],
  deep: boolean,
  onRead: (bytes: number) => void = () => {},
): Promise<TroubledFile[]> {
  const troubled: TroubledFile[] = [];
  for (const file of named) {
    const trouble = await checkNamedFile(join(data.warehouse, file.path), file, deep);
    if (trouble !== undefined) troubled.push({ ...file, trouble });
    onRead(file.bytes);
  }
  return troubled;
}

/**
 * Restores files of the warehouse from snapshots, which share them as hard links: they still have a file that was
 * removed or replaced, but not the bytes of one that was changed in place. Returns the files that no snapshot has
 * whole.
 */
export async function restoreFiles(
  data: DataDirectory,
  troubled: readonly TroubledFile[],
  aside: QuarantineFolder,
  { files }: Effects,
): Promise<TroubledFile[]> {
  const folders = await publishedFolders(data);
  const lost: TroubledFile[] = [];
  for (const file of troubled) {
    const target = join(data.warehouse, file.path);
    const source = await firstWhole(
      folders.flatMap(({ path, manifest }) =>
        Object.entries(manifest.files)
          .filter(([, { sha256 }]) => sha256 === file.sha256)
          .map(([name]) => join(path, name)),
      ),
      file,
    );
    if (source === undefined) {
      lost.push(file);
      continue;
    }
    await aside.moveIn(target);
    await files.makeDirectory(dirname(target));
    await files.hardLink(source, target, 'warehouse file: restored');
    await files.syncDirectory(dirname(target), 'warehouse file: folder synced');
  }
  return lost;
}

async function firstWhole(candidates: readonly string[], expected: NamedFile): Promise<string | undefined> {
  for (const path of candidates)
    if (existsSync(path) && (await checkNamedFile(path, expected, true)) === undefined) return path;
  return undefined;
}
