import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../../kit/errors/errors.ts';
import type { FileEffects } from '../../kit/files/effects.ts';

/** Where a backup is written to or read from. */
export interface BackupPlace {
  /** As errors and answers name it. */
  readonly name: string;
  /**
   * Throws `UsageError` where the place cannot take a backup, before any work is done for it. `proposed`: the name of a
   * backup in a folder.
   */
  prepare(proposed: string): Promise<BackupPlace>;
  /** Writes an archive of so many bytes at least, all of it or nothing. */
  write(archive: Readable, bytes: number): Promise<void>;
  /** Opens the archive. Throws `UsageError` where there is none. */
  read(): Promise<Readable>;
}

/** A file of this machine, or for writing a folder, in which it gets a name of its own. */
export class BackupFile implements BackupPlace {
  readonly name: string;
  readonly #files: FileEffects;

  constructor(path: string, files: FileEffects) {
    this.name = resolve(path);
    this.#files = files;
  }

  async prepare(proposed: string): Promise<BackupFile> {
    const about = statSync(this.name, { throwIfNoEntry: false });
    if (about?.isDirectory() === true) return new BackupFile(join(this.name, proposed), this.#files).prepare(proposed);
    if (about !== undefined)
      throw new UsageError(
        `${this.name} exists already: name another file, or a folder, where each backup gets its name`,
      );
    if (!existsSync(dirname(this.name)))
      throw new UsageError(`there is no folder ${dirname(this.name)}: make it first`);
    return this;
  }

  async write(archive: Readable): Promise<void> {
    const part = `${this.name}.part`;
    await this.#files.writeFile(part, '', 'backup: begun', 0o600);
    try {
      await pipeline(archive, createWriteStream(part, { flags: 'r+', highWaterMark: 2 ** 20 }));
      await this.#files.syncFile(part, 'backup: fsynced');
      await this.#files.rename(part, this.name, 'backup: renamed');
      await this.#files.syncDirectory(dirname(this.name), 'backup: folder synced');
    } catch (error) {
      // The first error is the one to report.
      await this.#files.remove(part, 'failed backup: removed').catch(() => undefined);
      throw error;
    }
  }

  async read(): Promise<Readable> {
    if (statSync(this.name, { throwIfNoEntry: false })?.isFile() !== true)
      throw new UsageError(`there is no backup ${this.name}`);
    return createReadStream(this.name, { highWaterMark: 2 ** 20 });
  }
}
