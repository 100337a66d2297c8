import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Larger files are no configuration, and reading one would exhaust a service's memory. */
const maxConfigurationBytes = 16 * 2 ** 20;

/** Opening a pipe without a writer would block, and a terminal would become this process's own. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Reads a file that people write, links followed. Throws for anything but a regular file, for one larger than
 * `maxConfigurationBytes`, and the system's own errors.
 */
export function readRegularFile(path: string): Buffer {
  const file = openSync(path, flags);
  try {
    assertRegular(fstatSync(file), maxConfigurationBytes);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Reads such a file as UTF-8. */
export function readTextFile(path: string): string {
  return readRegularFile(path).toString('utf8');
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
