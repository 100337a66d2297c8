import { hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEffects } from '../kit/files/effects.ts';
import { sha256Of } from '../kit/files/read-through.ts';
import { pictureTypes, type PictureEnding } from './picture-type.ts';

/** The SHA-256 of its bytes, and its type's ending. */
const pictureFile = new RegExp(`^([0-9a-f]{64})\\.(${Object.keys(pictureTypes).join('|')})$`);
/** Not whole yet, or left over by a pass that ended by force. */
const partEnding = '.part';

/** What the name of a mirrored file says; undefined where it is none. */
export function readFileName(file: string): { sha256: string; type: string } | undefined {
  const [, sha256, ending] = pictureFile.exec(file) ?? [];
  return sha256 === undefined ? undefined : { sha256, type: pictureTypes[ending as PictureEnding] };
}

/**
 * Stores a picture under the name of its content and gives that. Nobody sees a part of it: it has its name once it is
 * whole and on the disk. One call at a time: two with the same bytes would write the same file.
 */
export async function storePicture(
  folder: string,
  bytes: Buffer,
  ending: PictureEnding,
  files: FileEffects,
): Promise<string> {
  const file = `${hash('sha256', bytes, 'hex')}.${ending}`;
  // The same bytes from another address, or left over by a pass that ended before it wrote them down.
  if (await isIntact(folder, file)) return file;
  const part = join(folder, file + partEnding);
  await files.writeFile(part, bytes, 'picture: written');
  await files.rename(part, join(folder, file), 'picture: renamed');
  await files.syncDirectory(folder, 'picture: folder synced');
  return file;
}

/** Whether a file has the bytes that its name says. */
export async function isIntact(folder: string, file: string): Promise<boolean> {
  try {
    return (await sha256Of(join(folder, file))) === readFileName(file)?.sha256;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** In bytes; undefined where it is not there. */
export async function sizeOf(folder: string, file: string): Promise<number | undefined> {
  const about = await stat(join(folder, file)).catch(() => undefined);
  return about?.size;
}

/** The mirrored files of the folder, and those that are not whole yet. Whatever else lies there is not ours. */
export async function mirroredFiles(folder: string): Promise<{ whole: string[]; parts: string[] }> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const isPart = (name: string) => name.endsWith(partEnding) && pictureFile.test(name.slice(0, -partEnding.length));
  return { whole: names.filter((name) => pictureFile.test(name)), parts: names.filter(isPart) };
}
