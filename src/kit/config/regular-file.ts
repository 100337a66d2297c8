import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** More is no configuration, and to read it would take the memory of a service. Bytes. */
const mostOfConfiguration = 16 * 2 ** 20;

/** To open a pipe that nobody writes to would wait for ever, and a terminal would become this process's own. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The bytes of a file that people write, or of what a link to one leads to. Throws where something else lies there, a
 * pipe or a device, where it is larger than `most`, and the system's own errors.
 */
export function readRegularFile(path: string, most = mostOfConfiguration): Buffer {
  const file = openSync(path, flags);
  try {
    assertRegular(fstatSync(file), most);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** The same as UTF-8. */
export function readTextFile(path: string): string {
  return readRegularFile(path).toString('utf8');
}

/** The same, opened for somebody who reads it part by part, without making others wait. */
export async function openRegularFile(path: string, most = Infinity): Promise<FileHandle> {
  const file = await open(path, flags);
  try {
    assertRegular(await file.stat(), most);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function assertRegular(stats: Stats, most: number): void {
  if (!stats.isFile()) throw new Error('it is no regular file');
  if (stats.size > most) throw new Error(`it has ${stats.size} bytes, and at most ${most} are read`);
}
