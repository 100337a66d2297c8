import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync, truncateSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { openSqlite } from '../../kit/sqlite/open-sqlite.ts';
import { quoted } from '../../kit/text/sql-text.ts';

/** A file that the archive will hold, as it was at the moment of the backup. */
export interface HeldFile {
  /** Within the data directory. */
  path: string;
  /** Where its bytes are until the backup is written. */
  source: string;
  mode: number;
  modifiedNs: bigint;
  /** Size and digest, where something that was written with the file says them. */
  expected?: { bytes: number; sha256: string };
}

/**
 * Files of a data directory as they are at one moment, while its writers go on: what changes is copied, what never
 * changes is hard-linked, so that nobody can remove it before the archive is written.
 */
export class HeldFiles {
  readonly files: HeldFile[] = [];
  /** Targets of symbolic links, by path within the data directory. */
  readonly links: Record<string, string> = {};
  readonly #data: DataDirectory;
  readonly #effects: Effects;
  readonly #folders = new Set<string>();

  constructor(data: DataDirectory, effects: Effects) {
    this.#data = data;
    this.#effects = effects;
  }

  /** Copies a file that is replaced or appended to; one that is not there is left out. Returns whether it was there. */
  async copy(path: string): Promise<boolean> {
    const absolute = join(this.#data.root, path);
    try {
      const about = statSync(absolute, { bigint: true });
      if (!about.isFile()) return false;
      const source = await this.#place(path);
      await this.#effects.files.copyFile(absolute, source, 'backup: file copied');
      this.#add(path, source, about);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  /** Copies all files directly within a folder whose names fit. */
  async copyFolder(folder: string, fits: (name: string) => boolean = () => true): Promise<void> {
    for (const name of namesIn(join(this.#data.root, folder))) {
      if (!fits(name)) continue;
      const about = lstatSync(join(this.#data.root, folder, name), { throwIfNoEntry: false });
      if (about?.isFile() === true) await this.copy(`${folder}/${name}`);
    }
  }

  /**
   * Copies the whole lines of a log that rows are appended to, as a file of another name: beside the log as it is
   * later, it must not pass for it.
   */
  async copyLines(path: string, as: string): Promise<void> {
    if (!(await this.copy(path))) return;
    const held = this.files.pop() as HeldFile;
    const text = readFileSync(held.source);
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) return;
    truncateSync(held.source, end);
    this.files.push({ ...held, path: as });
  }

  /** Hard-links a file that never changes. Throws `OfferlineError` where it is missing. */
  async link(path: string, expected: { bytes: number; sha256: string }): Promise<void> {
    const absolute = join(this.#data.root, path);
    const source = await this.#place(path);
    if (!existsSync(absolute))
      throw new OfferlineError(
        `${absolute} is missing, and nothing was written: \`offerline doctor --deep --repair\` restores what it can`,
      );
    await this.#effects.files.hardLink(absolute, source, 'backup: file linked');
    this.#add(path, source, statSync(absolute, { bigint: true }), expected);
  }

  /**
   * Takes a landing file from where it is: its folder may be another file system. What is appended meanwhile is left to
   * the next backup.
   */
  refer(path: string, absolute: string): void {
    this.#add(path, absolute, statSync(absolute, { bigint: true }));
  }

  /** Copies a SQLite database as of one commit, without its write-ahead log. */
  async copySqlite(path: string): Promise<void> {
    const absolute = join(this.#data.root, path);
    if (!existsSync(absolute)) return;
    const source = await this.#place(path);
    const about = statSync(absolute, { bigint: true });
    const database = openSqlite(absolute);
    try {
      await this.#effects.perform('backup: SQLite copied', async () => database.exec(`VACUUM INTO ${quoted(source)}`));
    } finally {
      database.close();
    }
    this.#add(path, source, about);
  }

  /** Notes a symbolic link; one that is not there is left out. */
  noteLink(path: string): void {
    try {
      this.links[path] = readlinkSync(join(this.#data.root, path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #add(
    path: string,
    source: string,
    { mode, mtimeNs }: { mode: bigint; mtimeNs: bigint },
    expected?: HeldFile['expected'],
  ): void {
    const held = { path, source, mode: Number(mode & 0o777n), modifiedNs: mtimeNs };
    this.files.push(expected === undefined ? held : { ...held, expected });
  }

  /** Returns the path of a held file, in a folder that exists. */
  async #place(path: string): Promise<string> {
    const source = join(this.#data.backupDraft, path);
    const folder = dirname(source);
    if (!this.#folders.has(folder)) await this.#effects.files.makeDirectory(folder);
    this.#folders.add(folder);
    return source;
  }
}

/** Returns a path as a backup names it: within the data directory. */
export function withinData(data: DataDirectory, absolute: string): string {
  return relative(data.root, absolute);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
