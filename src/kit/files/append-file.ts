import { constants, open, stat } from 'node:fs/promises';

/** A file of this process that is only added to. */
export interface AppendFile {
  /**
   * Adds bytes at the end, and forces them to the disk where the file was opened so. Returns how many the disk took:
   * fewer where room runs out.
   */
  append(bytes: Buffer, step: string): Promise<number>;
  /** Forces what was added to the disk. */
  sync(step: string): Promise<void>;
  /** Cuts the file to so many bytes. */
  truncate(bytes: number, step: string): Promise<void>;
  /** False where the path leads to nothing or to another file: somebody moved or removed this one, or its folder. */
  isAt(path: string): Promise<boolean>;
  /** Reads a part, also of a file that was removed. */
  read(at: number, bytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

const { O_APPEND, O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = constants;

/**
 * Makes a file; fails where there is one of that name. `isForced`: an addition is on the disk once it is made, by the
 * call that adds it.
 */
export async function openAppendFile(path: string, isForced: boolean): Promise<AppendFile> {
  const handle = await open(path, O_CREAT | O_EXCL | O_RDWR | O_APPEND | (isForced ? O_DSYNC : 0));
  return {
    append: async (bytes) => (await handle.write(bytes)).bytesWritten,
    sync: () => handle.datasync(),
    truncate: (bytes) => handle.truncate(bytes),
    async isAt(at) {
      const [own, there] = await Promise.all([handle.stat(), statOf(at)]);
      return there !== 'nothing' && (there === undefined || (own.dev === there.dev && own.ino === there.ino));
    },
    async read(at, bytes) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, at);
      return buffer.subarray(0, bytesRead);
    },
    close: () => handle.close(),
  };
}

/** Returns undefined where the system fails to answer. */
async function statOf(path: string): Promise<{ dev: number; ino: number } | 'nothing' | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'nothing' : undefined;
  }
}
