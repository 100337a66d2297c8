import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { isDiskFull } from '../../kit/errors/machine-failure.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { LogFile } from '../../kit/files/log-file.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { Histogram } from '../../kit/http/histogram.ts';
import { dayNumberOf, dayText, finalName, newLogName, trackerLogs } from './log-names.ts';

export interface LogSeriesOptions {
  data: DataDirectory;
  kind: EventKind;
  instance: string;
  /** Whether rows are to be on the disk once they are added. */
  isForced: boolean;
  /** A file is handed to landing when it is so old. Milliseconds; default a minute. */
  longestOpen?: number | undefined;
  effects: Pick<Effects, 'now' | 'files'>;
  log: Logger;
  /** The disk may have lost what it took. */
  onBroken: (error: unknown) => void;
}

const minute = 60_000;
/** How often it is looked whether the file is still where it is written. Milliseconds. */
const lookEvery = 1000;
/** Bytes that are written again at once, of a file that is lost. */
const copiedBytes = 1024 * 1024;
/** Or when it is so large. Bytes. */
const largest = 64 * 1024 * 1024;

interface Part {
  path: string;
  file: LogFile;
  bytes: number;
  openedAt: number;
  dayNumber: number;
  /** Whether something of it is not known to be on the disk. */
  isDirty: boolean;
}

/**
 * The files of one log, one after the other: each is written as `.part` and renamed when it is old or large enough, the
 * day ends or the tracker stops. None is ever opened again, and none is handed over empty. Whoever adds waits for the
 * addition before. Where somebody moves or removes a file before it has its final name, its rows are written again into
 * another one: they were answered for. Should the old one come back, they are known by their ids.
 */
export class LogSeries {
  readonly syncSeconds = new Histogram([0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 2.5]);
  readonly #root: string;
  /** The folders that the day's folder lies in, the innermost first. */
  readonly #around: readonly string[];
  readonly #kind: EventKind;
  readonly #instance: string;
  readonly #isForced: boolean;
  readonly #longestOpen: number;
  readonly #effects: LogSeriesOptions['effects'];
  readonly #log: Logger;
  readonly #onBroken: LogSeriesOptions['onBroken'];
  #part: Part | undefined;
  #sequence = 0;
  #finishing: Promise<void> = Promise.resolve();
  /** Files that nothing more comes to and that have no final name yet. */
  readonly #unnamed = new Set<Part>();
  /** Files that are not where they were written, with whether that was told. */
  readonly #lost = new Map<Part, { isTold: boolean }>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor({ data, kind, instance, isForced, longestOpen = minute, effects, log, onBroken }: LogSeriesOptions) {
    this.#root = trackerLogs(data, kind);
    this.#around = [this.#root, dirname(this.#root), data.landing, data.root];
    this.#kind = kind;
    this.#instance = instance;
    this.#isForced = isForced;
    this.#longestOpen = longestOpen;
    this.#effects = effects;
    this.#log = log;
    this.#onBroken = onBroken;
  }

  get part(): { bytes: number; openedAt: number } | undefined {
    return this.#part;
  }

  /**
   * Adds rows to the present file or a new one. Throws where they could not be added: then none of them is there. Where
   * that cannot be known the log is broken.
   */
  async add(rows: Buffer, now: number): Promise<void> {
    await this.#look(now);
    if (this.#part !== undefined && this.#isDue(this.#part, now)) this.#finishInBackground();
    const part = (this.#part ??= await this.#open(now));
    try {
      await this.#appendWhole(part.file, rows);
    } catch (error) {
      // Whether the disk has what it was to force cannot be known, but where there was no room for it.
      if (this.#isForced && !isDiskFull(error)) this.#onBroken(error);
      else await this.#takeBack(part);
      throw error;
    }
    part.bytes += rows.length;
    part.isDirty = !this.#isForced;
  }

  /** Forces the present file to the disk where it is not. */
  async syncNow(): Promise<void> {
    if (this.#part?.isDirty === true) await this.#sync(this.#part);
  }

  /** Hands the present file over where that is due. Not to be called while something is added. */
  async finishWhereDue(now: number): Promise<void> {
    await this.#look(now);
    if (this.#part !== undefined && this.#isDue(this.#part, now)) this.#finishInBackground();
    else if (this.#unnamed.size > 0) this.#finishing = this.#finishing.then(() => this.#renameLeft());
    await this.#finishing;
  }

  /** Hands the last file over. */
  async close(): Promise<void> {
    if (this.#part !== undefined) this.#finishInBackground();
    await this.#finishing;
    await this.#saveLost();
  }

  async #look(now: number): Promise<void> {
    if (now >= this.#lookedAt && now - this.#lookedAt < lookEvery) return;
    this.#lookedAt = now;
    const part = this.#part;
    if (part !== undefined && !(await part.file.isAt(part.path))) {
      this.#part = undefined;
      this.#lost.set(part, { isTold: false });
    }
    if (this.#lost.size > 0) this.#finishing = this.#finishing.then(() => this.#saveLost());
  }

  /** Writes the rows of lost files again where landing looks; what cannot be written now is tried again. */
  async #saveLost(): Promise<void> {
    for (const [lost, { isTold }] of this.#lost) {
      const about = { kind: this.#kind, file: lost.path, bytes: lost.bytes };
      try {
        if (lost.bytes > 0) await this.#writeAgain(lost);
        this.#lost.delete(lost);
        this.#log.error(
          about,
          'a log was moved or removed before it was handed over; its rows are written again, into another',
        );
        await lost.file.close().catch(() => undefined);
      } catch (error) {
        this.#lost.set(lost, { isTold: true });
        if (isTold) continue;
        const reason = (error as Error).message;
        this.#log.error(
          { ...about, reason },
          'a log was moved or removed before it was handed over; its rows cannot be written again yet, which is tried each second: make its folder writable, and do not end the tracker before',
        );
      }
    }
  }

  async #writeAgain(lost: Part): Promise<void> {
    // Where it was moved, nobody is to find zeros behind its rows.
    await lost.file.truncate(lost.bytes, this.#step('room cut')).catch(() => undefined);
    const part = await this.#open(this.#effects.now());
    try {
      for (let at = 0; at < lost.bytes; at += copiedBytes)
        await this.#appendWhole(part.file, await lost.file.read(at, Math.min(copiedBytes, lost.bytes - at)));
    } catch (error) {
      await part.file.close().catch(() => undefined);
      await this.#effects.files.remove(part.path, this.#step('unused one removed')).catch(() => undefined);
      throw error;
    }
    part.bytes = lost.bytes;
    await this.#finish(part);
  }

  async #open(now: number): Promise<Part> {
    const { files } = this.#effects;
    const dayNumber = dayNumberOf(now);
    const folder = join(this.#root, dayText(dayNumber));
    await files.makeDirectory(folder);
    const path = join(folder, newLogName(this.#instance, now, this.#sequence++));
    const file = await files.openLog(path, this.#step('opened'), this.#isForced);
    try {
      // A row is not on the disk while the name of its file is not, nor that of a folder around it, which a try before
      // may have made and left so.
      for (const each of [folder, ...this.#around]) await this.#syncFolder(each, 'folder of a new one synced');
    } catch (error) {
      await file.close().catch(() => undefined);
      await files.remove(path, this.#step('unused one removed')).catch(() => undefined);
      throw error;
    }
    return { path, file, bytes: 0, openedAt: now, dayNumber, isDirty: false };
  }

  async #appendWhole(file: LogFile, rows: Buffer): Promise<void> {
    let written = 0;
    while (written < rows.length) {
      const taken = await file.append(rows.subarray(written), this.#step('appended'));
      if (taken === 0) throw Object.assign(new Error('the disk takes nothing more'), { code: 'ENOSPC' });
      written += taken;
    }
  }

  /** Cuts what was written of rows that are refused, for good: it must not come back after a loss of power. */
  async #takeBack(part: Part): Promise<void> {
    try {
      await part.file.truncate(part.bytes, this.#step('cut'));
      await part.file.sync(this.#step('synced after a cut'));
    } catch (error) {
      this.#onBroken(error);
    }
  }

  /** Whoever finds the file by its final name is to find rows in it and nothing else. */
  async #cutRoom(part: Part): Promise<void> {
    try {
      await part.file.truncate(part.bytes, this.#step('room cut'));
    } catch (error) {
      this.#onBroken(error);
      throw error;
    }
    await this.#sync(part);
  }

  async #sync(part: Part): Promise<void> {
    const began = performance.now();
    // Before it begins: what is added meanwhile may not be part of it.
    part.isDirty = false;
    try {
      await part.file.sync(this.#step('synced'));
    } catch (error) {
      this.#onBroken(error);
      throw error;
    }
    this.syncSeconds.observe((performance.now() - began) / 1000);
  }

  /** A second try of one that the disk failed at would be told that all is well. */
  async #syncFolder(folder: string, what: string): Promise<void> {
    try {
      await this.#effects.files.syncDirectory(folder, this.#step(what));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EIO') this.#onBroken(error);
      throw error;
    }
  }

  #finishInBackground(): void {
    const part = this.#part as Part;
    this.#part = undefined;
    this.#finishing = this.#finishing.then(() => this.#finish(part));
  }

  async #finish(part: Part): Promise<void> {
    try {
      await this.#cutRoom(part);
    } catch {
      // Told of, and the process ends.
      return;
    }
    this.#unnamed.add(part);
    await this.#renameLeft();
    if (part.bytes > 0) this.#log.debug({ kind: this.#kind, bytes: part.bytes }, 'a log is handed to landing');
  }

  /** What cannot be renamed now is tried again, and by the next start at the latest. */
  async #renameLeft(): Promise<void> {
    const { files } = this.#effects;
    for (const part of this.#unnamed) {
      const { path, bytes, file } = part;
      try {
        if (!(await file.isAt(path))) {
          this.#unnamed.delete(part);
          this.#lost.set(part, { isTold: false });
          continue;
        }
        if (bytes === 0) await files.remove(path, this.#step('unused one removed'));
        else await files.rename(path, finalName(path), this.#step('renamed'));
        this.#unnamed.delete(part);
        await file.close().catch(() => undefined);
        await this.#syncFolder(dirname(path), 'folder synced');
      } catch (error) {
        this.#log.error(
          { kind: this.#kind, reason: (error as Error).message },
          'a finished log could not be handed to landing; this is tried again',
        );
      }
    }
  }

  #isDue({ openedAt, bytes, dayNumber }: Part, now: number): boolean {
    // A clock that was set back would otherwise keep a file open for as long.
    const isOld = now - openedAt >= this.#longestOpen || now < openedAt - this.#longestOpen;
    return bytes >= largest || isOld || dayNumberOf(now) !== dayNumber;
  }

  #step(what: string): string {
    return `log of ${this.#kind}: ${what}`;
  }
}
