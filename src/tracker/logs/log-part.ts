import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { isDiskFull } from '../../kit/errors/machine-failure.ts';
import type { AppendFile } from '../../kit/files/append-file.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { dayNumberOf, dayText, finalName, newLogName, trackerLogs } from './log-names.ts';

/** Hears how long the disk takes. */
export interface LogObserver {
  onAppended(seconds: number, rows: number): void;
  onSynced(seconds: number): void;
}

export interface LogFolderOptions {
  data: DataDirectory;
  kind: EventKind;
  /** True where an addition returns once the disk has it. */
  isForced: boolean;
  effects: Pick<Effects, 'now' | 'files'>;
  /** Called once, where the disk may have lost what it took. */
  onBroken: (error: unknown) => void;
  observer?: LogObserver | undefined;
}

/** Bytes that are copied at once. */
const copiedBytes = 1024 * 1024;

/** The folder of one kind's logs, in which this process writes files under names of its own. */
export class LogFolder {
  readonly files: Effects['files'];
  readonly isForced: boolean;
  readonly observer: LogObserver | undefined;
  readonly #onBroken: LogFolderOptions['onBroken'];
  readonly #data: DataDirectory;
  readonly #kind: EventKind;
  readonly #now: () => number;
  /** Sets this process's files apart from those of one that began in the same millisecond. */
  readonly #instance = randomBytes(4).toString('hex');
  #opened = 0;
  #isBroken = false;

  constructor({ data, kind, isForced, effects, onBroken, observer }: LogFolderOptions) {
    this.#data = data;
    this.#kind = kind;
    this.isForced = isForced;
    this.files = effects.files;
    this.#now = () => effects.now();
    this.#onBroken = onBroken;
    this.observer = observer;
  }

  /** True after the disk may have lost what it took: nothing more is to be written. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  break(error: unknown): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#onBroken(error);
  }

  /** Begins a file, whose name is on the disk before its first row. */
  async open(): Promise<LogPart> {
    const now = this.#now();
    const root = trackerLogs(this.#data, this.#kind);
    const folder = join(root, dayText(dayNumberOf(now)));
    await this.files.makeDirectory(folder);
    const path = join(folder, newLogName(this.#instance, now, this.#opened++));
    const file = await this.files.openLog(path, this.step('opened'), this.isForced);
    try {
      // Also those around it: an earlier try may have made them and failed.
      for (const each of [folder, root, dirname(root), this.#data.landing, this.#data.root])
        await this.syncFolder(each, 'folder of a new one synced');
    } catch (error) {
      await file.close().catch(() => undefined);
      await this.files.remove(path, this.step('unused one removed')).catch(() => undefined);
      throw error;
    }
    return new LogPart(this, file, path, now);
  }

  /** After EIO the system forgets what it could not write, so that a second try would succeed wrongly. */
  async syncFolder(folder: string, what: string): Promise<void> {
    try {
      await this.files.syncDirectory(folder, this.step(what));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EIO') this.break(error);
      throw error;
    }
  }

  /** The name of a step for fault tests. */
  step(what: string): string {
    return `log of ${this.#kind}: ${what}`;
  }
}

/** File of a log, called `.part` until nothing more is written to it. */
export class LogPart {
  readonly openedAt: number;
  readonly #folder: LogFolder;
  readonly #file: AppendFile;
  /** The path until it has its final name. */
  readonly path: string;
  #bytes = 0;
  /** True while the disk may lack a part of it. */
  #isDirty = false;
  #isRenamed = false;

  constructor(folder: LogFolder, file: AppendFile, path: string, openedAt: number) {
    this.#folder = folder;
    this.#file = file;
    this.path = path;
    this.openedAt = openedAt;
  }

  /** Bytes of whole rows. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds all of the rows, or throws and adds none. Where neither is certain the log is broken. */
  async append(rows: Buffer): Promise<void> {
    try {
      for (let written = 0; written < rows.length;) {
        const taken = await this.#file.append(rows.subarray(written), this.#folder.step('appended'));
        if (taken === 0) throw Object.assign(new Error('the disk takes nothing more'), { code: 'ENOSPC' });
        written += taken;
      }
    } catch (error) {
      if (this.#folder.isForced && !isDiskFull(error)) this.#folder.break(error);
      else await this.#takeBack();
      throw error;
    }
    this.#bytes += rows.length;
    this.#isDirty = !this.#folder.isForced;
  }

  /** Forces to the disk what is not known to be there. */
  async sync(): Promise<void> {
    if (!this.#isDirty) return;
    const began = performance.now();
    // Before it begins: rows that are added meanwhile may not be part of it.
    this.#isDirty = false;
    try {
      await this.#file.sync(this.#folder.step('synced'));
    } catch (error) {
      this.#folder.break(error);
      throw error;
    }
    this.#folder.observer?.onSynced((performance.now() - began) / 1000);
  }

  /** False where somebody moved or removed the file, or a folder around it, before it had its final name. */
  async isInPlace(): Promise<boolean> {
    return this.#isRenamed || (await this.#file.isAt(this.path).catch(() => true));
  }

  /** Gives the file its final name, by which landing finds it. An empty one is removed. May be called again. */
  async handOver(): Promise<void> {
    const { files } = this.#folder;
    await this.sync();
    if (this.#bytes === 0) await files.remove(this.path, this.#folder.step('unused one removed'));
    else if (!this.#isRenamed) {
      await files.rename(this.path, finalName(this.path), this.#folder.step('renamed'));
      this.#isRenamed = true;
    }
    await this.#folder.syncFolder(dirname(this.path), 'folder synced');
    await this.close();
  }

  /** Adds its rows to another file. */
  async copyTo(other: LogPart): Promise<void> {
    for (let at = 0; at < this.#bytes; at += copiedBytes)
      await other.append(await this.#file.read(at, Math.min(copiedBytes, this.#bytes - at)));
  }

  /** Removes a file whose rows are not answered for. */
  async discard(): Promise<void> {
    await this.close();
    await this.#folder.files.remove(this.path, this.#folder.step('unused one removed')).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#file.close().catch(() => undefined);
  }

  /** Cuts off rows that are refused, for good: after a loss of power they must not be there. */
  async #takeBack(): Promise<void> {
    try {
      await this.#file.truncate(this.#bytes, this.#folder.step('cut'));
      await this.#file.sync(this.#folder.step('synced after a cut'));
    } catch (error) {
      this.#folder.break(error);
    }
  }
}
