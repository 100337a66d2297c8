import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { linePlace } from '../text/json-places.ts';

/** Larger files are no configuration, and reading one would exhaust a service's memory. */
const maxConfigurationBytes = 16 * 2 ** 20;

/** Opening a pipe without a writer would block, and a terminal would become this process's own. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Reads a file that people write, links followed. Throws for anything but a regular file, for one larger than
 * `maxConfigurationBytes`, and the system's own errors.
 */
export function readRegularFile(path: string): Buffer {
  const file = openOrSayWhy(path);
  try {
    assertRegular(fstatSync(file), maxConfigurationBytes);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Reads such a file as UTF-8, with or without its mark. Throws for another encoding, too, naming the line. */
export function readTextFile(path: string): string {
  const bytes = readRegularFile(path);
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  // Replaced characters would be written back by those who change the file.
  if (!isUtf8(bytes))
    throw new Error(`its line ${linePlace(text, text.indexOf('\uFFFD')).line} is not UTF-8; save the file as UTF-8`);
  return text;
}

/** A file that is absent may be one that nobody wrote. A link that leads nowhere was written. */
function openOrSayWhy(path: string): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (isLink && (error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error('it is a link to a file that does not exist', { cause: error });
    throw error;
  }
}

/** Opens such a file for reading in parts. */
export async function openRegularFile(path: string, maxBytes = Infinity): Promise<FileHandle> {
  const file = await open(path, flags);
  try {
    assertRegular(await file.stat(), maxBytes);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function assertRegular(stats: Stats, maxBytes: number): void {
  if (!stats.isFile()) throw new Error('it is no regular file');
  if (stats.size > maxBytes) throw new Error(`it has ${stats.size} bytes, and at most ${maxBytes} are read`);
}
