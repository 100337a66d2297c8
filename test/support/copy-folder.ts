import { copyFile, link, lstat, mkdir, readdir, readlink, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Copies a folder with the modes of folders and the times of its files, and as the folder has them its symbolic and its
 * hard links, by which snapshots share files with the warehouse.
 */
export async function copyFolder(from: string, to: string, copies = new Map<bigint, string>()): Promise<void> {
  await mkdir(to, { mode: (await lstat(from)).mode });
  for (const name of await readdir(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    const about = await lstat(source, { bigint: true });
    const copy = copies.get(about.ino);
    if (about.isDirectory()) await copyFolder(source, target, copies);
    else if (about.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (copy !== undefined) await link(copy, target);
    else {
      await copyFile(source, target);
      await utimes(target, about.atime, about.mtime);
      copies.set(about.ino, target);
    }
  }
}
