import { hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEffects } from '../kit/files/effects.ts';
import { sha256Of } from '../kit/files/read-through.ts';
import { pictureTypes, type PictureEnding } from './picture-type.ts';

/** Names of mirrored files: SHA-256 of the bytes, ending of the type. */
const pictureFile = new RegExp(`^([0-9a-f]{64})\\.(${Object.keys(pictureTypes).join('|')})$`);
/** Ending of unfinished files, which a pass that ended by force leaves. */
const partEnding = '.part';

/** Parses the name of a mirrored file; undefined for other names. */
export function readFileName(file: string): { sha256: string; type: string } | undefined {
  const [, sha256, ending] = pictureFile.exec(file) ?? [];
  return sha256 === undefined ? undefined : { sha256, type: pictureTypes[ending as PictureEnding] };
}

/**
 * Stores a picture under the name of its content, and returns that. The file gets its name after it is complete and on
 * the disk. One call at a time: two with the same bytes would write the same file.
 */
export async function storePicture(
  folder: string,
  bytes: Buffer,
  ending: PictureEnding,
  files: FileEffects,
): Promise<string> {
  const file = `${hash('sha256', bytes, 'hex')}.${ending}`;
  // Another address has the same bytes, or a pass ended before it indexed them.
  if (await isPictureIntact(folder, file)) return file;
  const part = join(folder, file + partEnding);
  await files.writeFile(part, bytes, 'picture: written');
  await files.rename(part, join(folder, file), 'picture: renamed');
  await files.syncDirectory(folder, 'picture: folder synced');
  return file;
}

/** True where a file's digest is the one in its name. */
export async function isPictureIntact(folder: string, file: string): Promise<boolean> {
  try {
    return (await sha256Of(join(folder, file))) === readFileName(file)?.sha256;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Returns the bytes of a file; undefined where there is none. */
export async function sizeOf(folder: string, file: string): Promise<number | undefined> {
  const about = await stat(join(folder, file)).catch(() => undefined);
  return about?.size;
}

/** Lists the mirrored files of the folder, and unfinished ones; other files are not ours. */
export async function mirroredFiles(folder: string): Promise<{ whole: string[]; parts: string[] }> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const isPart = (name: string) => name.endsWith(partEnding) && pictureFile.test(name.slice(0, -partEnding.length));
  return { whole: names.filter((name) => pictureFile.test(name)), parts: names.filter(isPart) };
}
