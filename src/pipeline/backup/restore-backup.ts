import { createWriteStream } from 'node:fs';
import { readdir, readFile, rmdir, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import { makePrivateFolder, realEffects, type Effects } from '../../kit/files/effects.ts';
import type { Terminal } from '../../kit/logging/progress.ts';
import { readArchive, type ArchiveReader } from './archive.ts';
import type { BackupPlace } from './backup-place.ts';
import { backupManifestFile, isMoving } from './unfinished-restore.ts';
import { backupManifestText, parseBackupManifest, type BackupManifest, type BackupMember } from './backup-manifest.ts';

export interface RestoreRequest {
  data: DataDirectory;
  terminal: Terminal;
  from: BackupPlace;
}

/** A restored data directory. */
export interface RestoredBackup {
  manifest: BackupManifest;
  /** False where the directory had landing files, which stay as they are. */
  landing: boolean;
}

/**
 * Makes a data directory of a backup. Every byte is written and checked within a hidden folder of it before anything
 * takes its place, and what has not ended is refused by every command and completed by the next restore. Throws
 * `UsageError` for a directory that has more than landing files, or a newer backup; `BrokenBackupError` for one that is
 * cut or changed.
 */
export async function restoreBackup(
  { data, terminal, from }: RestoreRequest,
  effects: Effects = realEffects,
): Promise<RestoredBackup> {
  await assertRoom(data);
  if (isMoving(data)) await assertSame(data, from);
  else await unpack(data, from, terminal, effects);
  return putInPlace(data, effects);
}

async function assertRoom(data: DataDirectory): Promise<void> {
  const { root, restoreDraft, restored, landing } = data;
  // A restore that has begun to move its files was allowed to.
  if (isMoving(data)) return;
  const allowed = [restoreDraft, restored, landing].map((path) => basename(path));
  const names = await readdir(root).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const others = names.filter((name) => !allowed.includes(name)).toSorted();
  if (others.length === 0) return;
  throw new UsageError(
    `${root} is not empty: it has ${others.slice(0, 5).join(', ')}${others.length > 5 ? ` and ${others.length - 5} more` : ''}; restore into a directory that is empty, or has only landing/`,
  );
}

/** Throws `UsageError` where the files that wait for their places are of another backup. */
async function assertSame(data: DataDirectory, from: BackupPlace): Promise<void> {
  const ours = await readManifest(data);
  let theirs: BackupManifest | undefined;
  const enough = new Error('the manifest is read');
  const stop = async (manifest: BackupManifest) => {
    theirs = manifest;
    throw enough;
  };
  const nothing = async () => {};
  const reader: ArchiveReader = { begin: stop, member: nothing, same: nothing };
  await readArchive(await from.read(), from.name, reader, () => {}).catch((error: unknown) => {
    if (error !== enough) throw error;
  });
  if (theirs !== undefined && backupManifestText(theirs) === backupManifestText(ours)) return;
  throw new UsageError(
    `${data.root} is half restored from another backup, of ${ours.created_at} after run ${ours.run_id}: restore that one again, or empty the directory`,
  );
}

async function readManifest({ restored }: DataDirectory): Promise<BackupManifest> {
  const path = join(restored, backupManifestFile);
  return parseBackupManifest(await readFile(path, 'utf8'), path);
}

/** Writes all files of the backup within the draft, checks them, and gives the draft its name. */
async function unpack(data: DataDirectory, from: BackupPlace, { progress }: Terminal, effects: Effects): Promise<void> {
  const { files } = effects;
  const source = await from.read();
  await files.makeDirectory(data.root);
  await files.remove(data.restoreDraft, 'restore: leftover removed');
  const folders = new DraftFolders(data, effects);
  let isBegun = false;
  try {
    const manifest = await readArchive(
      source,
      from.name,
      {
        async begin({ links, members }) {
          await folders.make('');
          for (const path of [...Object.keys(links), ...members.map((member) => member.path)])
            await folders.make(dirname(path));
        },
        member: (member, bytes) => writeMember(data, member, bytes, effects),
        async same({ path, same_as: first }) {
          await files.hardLink(
            join(data.restoreDraft, first as string),
            join(data.restoreDraft, path),
            'restore: linked',
          );
        },
      },
      (bytes, total) => {
        if (!isBegun) progress.start('restoring', total);
        isBegun = true;
        progress.advance(bytes);
      },
    );
    for (const [path, target] of Object.entries(manifest.links))
      await files.symbolicLink(target, join(data.restoreDraft, path), 'restore: link made');
    await files.writeFile(
      join(data.restoreDraft, backupManifestFile),
      backupManifestText(manifest),
      'restore: manifest written',
      0o600,
    );
    await folders.sync();
  } catch (error) {
    source.destroy();
    // The first error is the one to report.
    await files.remove(data.restoreDraft, 'failed restore: removed').catch(() => undefined);
    throw error;
  } finally {
    if (isBegun) progress.finish();
  }
  await files.remove(data.restored, 'restore: folder of an ended one removed');
  await files.rename(data.restoreDraft, data.restored, 'restore: all checked');
  await files.syncDirectory(data.root, 'restore: directory synced');
}

async function writeMember(
  data: DataDirectory,
  { path, mode, modified_ns: modifiedNs }: BackupMember,
  bytes: Readable,
  { files }: Effects,
): Promise<void> {
  const target = join(data.restoreDraft, path);
  await files.writeFile(target, '', 'restore: file begun', mode | 0o600);
  await pipeline(bytes, createWriteStream(target, { flags: 'r+', highWaterMark: 2 ** 20 }));
  const modified = Number(BigInt(modifiedNs) / 1000n) / 1e6;
  await utimes(target, modified, modified);
  await files.syncFile(target, 'restore: file fsynced');
}

/** Folders of the draft; those with data about users are for their owner alone. */
class DraftFolders {
  readonly #made = new Set<string>();
  readonly #private: ReadonlySet<string>;
  readonly #data: DataDirectory;
  readonly #effects: Effects;

  constructor(data: DataDirectory, effects: Effects) {
    this.#data = data;
    this.#effects = effects;
    this.#private = new Set(data.privateFolders.map((folder) => basename(folder)));
  }

  async make(folder: string): Promise<void> {
    const path = folder === '.' ? '' : folder;
    if (this.#made.has(path)) return;
    if (path !== '') await this.make(dirname(path));
    const absolute = join(this.#data.restoreDraft, path);
    if (path === '' || this.#private.has(path)) makePrivateFolder(absolute);
    else await this.#effects.files.makeDirectory(absolute);
    this.#made.add(path);
  }

  async sync(): Promise<void> {
    for (const folder of this.#made)
      await this.#effects.files.syncDirectory(join(this.#data.restoreDraft, folder), 'restore: folder synced');
  }
}

/** File among the checked ones: their landing files are left out, and some of these may be gone. */
const leftOutFile = 'landing-left-out';

/**
 * Moves everything to its place; `sites.json`, without which no run begins, comes last. Ended at any moment, it goes on
 * when it is called again.
 */
async function putInPlace(data: DataDirectory, { files }: Effects): Promise<RestoredBackup> {
  const manifest = await readManifest(data);
  const [landing, sites] = [basename(data.landing), basename(data.sitesFile)];
  const waiting = await readdir(data.restored);
  let isLeftOut = waiting.includes(leftOutFile);
  const names = waiting.filter((name) => name !== backupManifestFile && name !== leftOutFile);
  for (const name of names.toSorted((a, b) => Number(a === sites) - Number(b === sites))) {
    const target = join(data.root, name);
    if (name === landing && (isLeftOut || !(await makeWay(target)))) {
      isLeftOut = true;
      continue;
    }
    await files.rename(join(data.restored, name), target, 'restore: put in place');
  }
  await files.syncDirectory(data.root, 'restore: directory synced');
  if (isLeftOut) {
    // A call after this one, where this one is killed, must neither report them as in place nor move a part of them.
    await files.writeFile(join(data.restored, leftOutFile), '', 'restore: landing files to be left out');
    await files.syncDirectory(data.restored, 'restore: folder synced');
    await files.remove(join(data.restored, landing), 'restore: landing files left out');
  }
  // From here on the directory is whole.
  await files.remove(join(data.restored, backupManifestFile), 'restore: ended');
  await files.remove(data.restored, 'restore: folder removed');
  return { manifest, landing: !isLeftOut && manifest.members.some(({ path }) => path.startsWith(`${landing}/`)) };
}

/**
 * Removes an empty landing folder. Returns false for one that has files, which stay. Throws `OfferlineError` where an
 * empty one is a mount point or a link.
 */
async function makeWay(folder: string): Promise<boolean> {
  // Neither a mount point nor a link says of itself that it has files when it is removed.
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length > 0) return false;
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw new OfferlineError(
      `${folder} is empty and cannot make way for the backup's landing files (${code}): unmount it, remove the link, or give it to this user, then restore again`,
      undefined,
      { cause: error },
    );
  }
}
