import { setImmediate } from 'node:timers/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { DiskSpace } from './disk-space.ts';
import { LogFolder, type LogObserver, type LogPart } from './log-part.ts';
import { LogSeries } from './log-series.ts';

/** Records rows of one kind: clicks or conversions. */
export interface RowSink {
  /**
   * Resolves once the row will outlive what `durability` says. Rejects with `NotRecordedError` where the row cannot be
   * recorded; then it is certainly not in the log, or the process ends. `row` is one line of NDJSON without its
   * newline.
   */
  append(row: string): Promise<void>;
}

/** A row was not recorded, and its sender may try again. */
export class NotRecordedError extends OfferlineError {}

export interface RowLogOptions {
  data: DataDirectory;
  kind: EventKind;
  /** `power`: a row is answered for when it outlives a loss of power; `process`: when it outlives this process. */
  durability: 'power' | 'process';
  /** A file is handed to landing when it is so old. Milliseconds. */
  maxAge: number;
  effects: Pick<Effects, 'now' | 'files'>;
  log: Logger;
  /**
   * Called where the disk may have lost what it took: nothing more is answered for, and the process has to end. A
   * second try would succeed wrongly, since the system forgets what it could not write.
   */
  onBroken: (error: unknown) => void;
  observer?: LogObserver | undefined;
}

/** Rows that wait longer for the disk are refused. Milliseconds. */
const maxWait = 2000;
const maxWaiting = 10_000;
/** Between two looks at the disk's room and the file, and in mode `process` between two syncs. Milliseconds. */
const lookEvery = 1000;
/** Between two log lines about rows that could not be recorded. Milliseconds. */
const complainEvery = 60_000;

/** Rows that go to the disk together: all their senders wait for one promise. */
class Batch {
  text = '';
  rows = 0;
  readonly stored = Promise.withResolvers<void>();

  refuse(reason: string): void {
    this.stored.reject(new NotRecordedError(reason));
  }
}

/**
 * The log of one kind. Rows gather while those before them are on their way to the disk, and then go together, in one
 * call of the system, so that as many as wait for the disk share its time.
 */
export class RowLog implements RowSink {
  readonly kind: EventKind;
  readonly #options: RowLogOptions;
  readonly #folder: LogFolder;
  readonly #series: LogSeries;
  readonly #space: DiskSpace;
  #isClosed = false;
  #gathering = new Batch();
  /** Work that waits for the disk: a batch of so many rows, or 0 for a check; with its beginning, by the clock. */
  #underWay: { rows: number; began: number } | undefined;
  /** The check that is due. */
  #check: PromiseWithResolvers<void> | undefined;
  /** Undefined while nothing is to be done. */
  #working: Promise<void> | undefined;
  /** The look of tick that is under way, which takes as long as the disk does. */
  #looking: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #complainedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RowLogOptions) {
    const { data, kind, durability, maxAge, effects, log, observer } = options;
    this.kind = kind;
    this.#options = options;
    this.#folder = new LogFolder({
      data,
      kind,
      isForced: durability === 'power',
      effects,
      onBroken: (error) => this.#break(error),
      observer,
    });
    this.#series = new LogSeries(this.#folder, kind, maxAge, log);
    this.#space = new DiskSpace(data.landing, kind, effects.files, log);
  }

  /** Rows that are not on the disk yet. */
  get waiting(): number {
    return (this.#underWay?.rows ?? 0) + this.#gathering.rows;
  }

  /** The file that is written to now. */
  get part(): Pick<LogPart, 'bytes' | 'openedAt'> | undefined {
    return this.#series.part;
  }

  /** The reason why no row can be taken now; undefined where one can. */
  refusal(now: number): string | undefined {
    if (this.#folder.isBroken) return 'the disk failed';
    if (this.#isClosed) return 'the tracker is stopping';
    if (!this.#space.isEnough) return 'the disk is nearly full';
    if (this.#gathering.rows >= maxWaiting) return 'too many rows wait for the disk';
    return this.#isStalled(now) ? 'the disk does not answer' : undefined;
  }

  append(row: string): Promise<void> {
    const refusal = this.refusal(this.#options.effects.now());
    if (refusal !== undefined) return Promise.reject(new NotRecordedError(refusal));
    const batch = this.#gathering;
    batch.text += `${row}\n`;
    batch.rows++;
    this.#working ??= this.#work();
    return batch.stored.promise;
  }

  /**
   * To be called twice a second, whether or not an earlier call has ended. Refuses rows that wait behind a stalled
   * disk; once a second looks at the disk's room and whether a file is due, and in mode `process` forces rows to the
   * disk.
   */
  async tick(): Promise<void> {
    if (this.#folder.isBroken || this.#isClosed) return;
    const now = this.#options.effects.now();
    if (this.#isStalled(now)) this.#refuseWaiting();
    if (Math.abs(now - this.#lookedAt) >= lookEvery)
      this.#looking ??= this.#look(now).finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  /** Stores what waits and hands the file to landing. Rows that come later are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
    await this.#working;
    await this.#series.close();
  }

  async #look(now: number): Promise<void> {
    this.#lookedAt = now;
    await this.#space.poll();
    if (this.#options.durability === 'process') await this.#series.sync();
    this.#check = Promise.withResolvers<void>();
    this.#working ??= this.#work();
    // A disk that does not answer is not waited for: rows behind it are to be refused.
    if (this.#underWay !== undefined) return;
    await this.#check.promise;
    await this.#series.settled();
  }

  /** Does one thing after the other: all that uses the file that is written to. */
  async #work(): Promise<void> {
    while (this.#check !== undefined || this.#gathering.rows > 0) {
      // Rows that come in the same turn of the event loop go together.
      await setImmediate();
      if (this.#folder.isBroken) return;
      if (this.#check !== undefined) await this.#checkSeries(this.#check);
      if (this.#gathering.rows > 0) await this.#write();
    }
    this.#working = undefined;
  }

  async #checkSeries(check: PromiseWithResolvers<void>): Promise<void> {
    const now = this.#options.effects.now();
    this.#check = undefined;
    this.#underWay = { rows: 0, began: now };
    await this.#series.check(now);
    this.#underWay = undefined;
    check.resolve();
  }

  async #write(): Promise<void> {
    const batch = this.#gathering;
    this.#gathering = new Batch();
    const began = performance.now();
    const now = this.#options.effects.now();
    this.#underWay = { rows: batch.rows, began: now };
    try {
      await this.#series.add(Buffer.from(batch.text), now);
    } catch (error) {
      // No answer: the rows may be in the log, or not.
      if (this.#folder.isBroken) return;
      this.#complain(error);
      batch.refuse('the disk took no more');
      this.#underWay = undefined;
      return;
    }
    this.#underWay = undefined;
    this.#options.observer?.onAppended((performance.now() - began) / 1000, batch.rows);
    batch.stored.resolve();
  }

  #isStalled(now: number): boolean {
    return this.#underWay !== undefined && now - this.#underWay.began > maxWait;
  }

  /** Rows of the batch under way cannot be refused: they may yet be stored. */
  #refuseWaiting(): void {
    const batch = this.#gathering;
    if (batch.rows === 0) return;
    this.#gathering = new Batch();
    batch.refuse('the disk does not answer');
  }

  #complain(error: unknown): void {
    const now = this.#options.effects.now();
    if (Math.abs(now - this.#complainedAt) < complainEvery) return;
    this.#complainedAt = now;
    this.#options.log.error(
      { kind: this.kind, reason: (error as Error).message },
      `rows of ${this.kind} could not be written: their senders are answered 503`,
    );
  }

  #break(error: unknown): void {
    this.#check?.resolve();
    this.#options.log.fatal(
      { kind: this.kind, reason: (error as Error).message },
      'write failed after data was handed to the disk; exiting. The next start recovers the log',
    );
    this.#options.onBroken(error);
  }
}
