import { chmodSync, existsSync, linkSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { constants, copyFile, open, mkdir, rename, statfs, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OfferlineError } from '../errors/errors.ts';
import { openAppendFile, type AppendFile } from './append-file.ts';

/**
 * Effects of a run on the world, passed as a defaulted last argument. A test replaces a member to stop time, fill the
 * disk or kill the process at a step; product code has no switch for that.
 */
export interface Effects {
  /** Wall clock in milliseconds since the epoch. Read once per run for its as-of time. */
  now(): number;
  files: FileEffects;
  /**
   * Does work that changes the disk by other means than `files`, such as a commit of DuckDB, and returns its result.
   * `step` names the moment for fault tests, which may stop before or after it, or make it fail.
   */
  perform<T>(step: string, work: () => Promise<T>): Promise<T>;
}

/** Numbers of the user and the group that a file belongs to. */
export type FileOwner = Record<'uid' | 'gid', number>;

/** The operations that change the disk and can fail. `step` names the moment for fault tests. */
export interface FileEffects {
  /** Creates a folder and missing ones above it; returns the uppermost one created, undefined where all existed. */
  makeDirectory(path: string): Promise<string | undefined>;
  /** Forces a file's bytes to the disk. */
  syncFile(path: string, step: string): Promise<void>;
  /** Forces a directory's entries to the disk: without it a renamed file may vanish at power loss. */
  syncDirectory(path: string, step: string): Promise<void>;
  rename(from: string, to: string, step: string): Promise<void>;
  hardLink(existing: string, path: string, step: string): Promise<void>;
  symbolicLink(target: string, path: string, step: string): Promise<void>;
  /** Shares the bytes where the file system can. */
  copyFile(from: string, to: string, step: string): Promise<void>;
  /**
   * Writes a file. With `mode` and `owner` it has these from its first byte on; without a mode the process's umask
   * applies.
   */
  writeFile(path: string, content: string | Uint8Array, step: string, mode?: number, owner?: FileOwner): Promise<void>;
  remove(path: string, step: string): Promise<void>;
  /**
   * Makes a file that is only added to; `isForced`: each addition is on the disk once it is made. Fails where there is
   * one of that name.
   */
  openLog(path: string, step: string, isForced: boolean): Promise<AppendFile>;
  /** Returns the bytes that this user may still write where the folder is. */
  freeBytes(folder: string): Promise<number>;
}

export const realEffects: Effects = {
  now: () => Date.now(),
  files: {
    makeDirectory: (path) => mkdir(path, { recursive: true }),
    syncFile: (path) => sync(path, 'r+'),
    syncDirectory: (path) => sync(path, 'r'),
    rename,
    // Synchronously: a snapshot has a file per day of history, and passing each link to another thread takes several
    // times as long as the link. The same goes for removing an old one.
    hardLink: async (existing, path) => linkSync(existing, path),
    symbolicLink: (target, path) => symlink(target, path),
    copyFile: (from, to) => copyFile(from, to, constants.COPYFILE_FICLONE),
    writeFile: async (path, content, _step, mode, owner) => {
      const handle = await open(path, 'w', mode);
      try {
        if (owner !== undefined) {
          const { uid, gid } = await handle.stat();
          if (uid !== owner.uid || gid !== owner.gid) await handle.chown(owner.uid, owner.gid);
        }
        // The umask may have removed bits, and a file of a killed process has its own mode.
        if (mode !== undefined) await handle.chmod(mode);
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    remove: async (path) => rmSync(path, { recursive: true, force: true }),
    openLog: (path, _step, isForced) => openAppendFile(path, isForced),
    freeBytes: async (folder) => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
  },
  perform: (_step, work) => work(),
};

async function sync(path: string, flags: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes a file so that a reader sees the old content or the new, never a part: temp name, fsync, rename, fsync of the
 * folder. With `mode` and `owner` the file has these from its first byte.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  step: string,
  files: FileEffects = realEffects.files,
  mode?: number,
  owner?: FileOwner,
): Promise<void> {
  const temporary = `${path}.tmp`;
  await files.writeFile(temporary, content, `${step}: written`, mode, owner);
  await files.rename(temporary, path, `${step}: renamed`);
  await files.syncDirectory(dirname(path), `${step}: folder synced`);
}

/** The owner of what root makes in a folder: the folder's, whose processes read it. Undefined for other users. */
export function ownerWithin(folder: string): FileOwner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(folder);
  return { uid, gid };
}

/**
 * Replaces a file that an operator keeps: mode and owner stay, so that who reads it still may, and where `path` is a
 * link, the file that it leads to is replaced. A new file has `newMode`, and belongs to its folder's owner. Throws
 * `OfferlineError`, with the file as it was, where it is somebody else's and this user may not leave it theirs.
 */
export async function rewriteFile(
  path: string,
  content: string,
  step: string,
  files: FileEffects = realEffects.files,
  newMode?: number,
): Promise<void> {
  if (!existsSync(path)) return replaceFile(path, content, step, files, newMode, ownerWithin(dirname(path)));
  const file = realpathSync(path);
  const { mode, uid, gid } = statSync(file);
  try {
    await replaceFile(file, content, step, files, mode & 0o777, { uid, gid });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== 'fchown') throw error;
    await files.remove(`${file}.tmp`, `${step}: taken back`);
    throw new OfferlineError(
      `${file} belongs to user ${uid} and group ${gid}, whose it would not stay; nothing was changed, run this as that user`,
      undefined,
      { cause: error },
    );
  }
}

/** Restricts a folder to its owner again. */
export function closeFolder(path: string): void {
  chmodSync(path, privateMode);
}

const privateMode = 0o700;

/**
 * Creates a folder for its owner alone, for data about people: addresses, user ids, devices. Its files then need no
 * mode of their own, such as those that a database creates beside its own. An existing folder keeps its mode: an
 * operator may let a group in.
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    // With `recursive` a read-only disk would be reported as a missing folder.
    mkdirSync(path, { mode: privateMode });
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
