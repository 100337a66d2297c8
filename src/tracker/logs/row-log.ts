import { randomBytes } from 'node:crypto';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { BatchPace } from './batch-pace.ts';
import { Histogram } from '../../kit/http/histogram.ts';
import { LogSeries } from './log-series.ts';

/** Where rows of one kind go: clicks or conversions. */
export interface RowSink {
  /**
   * Resolves once the row will outlive what `durability` says. Rejects with `NotRecordedError` where it cannot be
   * recorded; then it is certainly not in the log, or the process ends. `row` is one line of NDJSON without its
   * newline.
   */
  append(row: string): Promise<void>;
}

/** A row was not recorded, and whoever asked for it may ask again. */
export class NotRecordedError extends OfferlineError {}

export interface RowLogOptions {
  data: DataDirectory;
  kind: EventKind;
  /** `power`: a row is answered for when it outlives a loss of power; `process`: when it outlives this process. */
  durability: 'power' | 'process';
  /** How old a file may grow before it is handed to landing. Milliseconds. */
  longestOpen?: number | undefined;
  effects: Pick<Effects, 'now' | 'files'>;
  log: Logger;
  /**
   * Called where the disk may have lost what it took: nothing more is answered for, and the process has to end. A
   * second try would be told that all is well, since the system forgets what it could not write.
   */
  onBroken: (error: unknown) => void;
}

/** A batch that takes longer holds up those who wait, who are then refused. Milliseconds. */
const longestWait = 2000;
const mostWaiting = 10_000;
/** With less room on the disk nothing is begun: the pipeline beside needs some, too. Bytes. */
const leastFree = 256 * 1024 * 1024;
/**
 * How often the room on the disk and the age of the file are looked at, and in mode `process` the log is forced to the
 * disk. Milliseconds.
 */
const lookEvery = 1000;
/** The same failure again within so long is not told of again. Milliseconds. */
const complainEvery = 60_000;

/** Rows that go to the disk together: all their senders wait for one promise. */
interface Batch {
  text: string;
  rows: number;
  readonly stored: PromiseWithResolvers<void>;
}

/**
 * The log of one kind. Rows gather while those before them are on their way to the disk, and then go together, in one
 * call of the system, so that the disk's time is shared by as many as wait for it.
 */
export class RowLog implements RowSink {
  readonly kind: EventKind;
  /** Seconds from a batch's beginning to its promise. */
  readonly appendSeconds = new Histogram([0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 2.5]);
  readonly batchRows = new Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 10_000]);
  readonly #durability: RowLogOptions['durability'];
  readonly #effects: RowLogOptions['effects'];
  readonly #log: Logger;
  readonly #onBroken: RowLogOptions['onBroken'];
  readonly #landing: string;
  readonly #series: LogSeries;
  readonly #pace = new BatchPace();
  #gathering = newBatch();
  #bytes = Buffer.alloc(0);
  /** The writing under way; undefined while nobody waits. */
  #draining: Promise<void> | undefined;
  /** The batch under way: its rows, and when it began by the clock. */
  #underWay: { rows: number; began: number } | undefined;
  #hasRoom = true;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The look under way, which takes as long as the disk does. */
  #looking: Promise<void> | undefined;
  #complainedAt = Number.NEGATIVE_INFINITY;
  #isBroken = false;
  #isClosed = false;

  constructor({ data, kind, durability, longestOpen, effects, log, onBroken }: RowLogOptions) {
    this.kind = kind;
    this.#durability = durability;
    this.#effects = effects;
    this.#log = log;
    this.#onBroken = onBroken;
    this.#landing = data.landing;
    // Told apart from every other process's, also one that began in the same millisecond.
    const instance = randomBytes(4).toString('hex');
    const broken = (error: unknown) => this.#break(error);
    const isForced = durability === 'power';
    this.#series = new LogSeries({ data, kind, instance, isForced, longestOpen, effects, log, onBroken: broken });
  }

  /** Rows that are not on the disk yet. */
  get waiting(): number {
    return (this.#underWay?.rows ?? 0) + this.#gathering.rows;
  }

  /** The file that is written to now. */
  get part(): { bytes: number; openedAt: number } | undefined {
    return this.#series.part;
  }

  get syncSeconds(): Histogram {
    return this.#series.syncSeconds;
  }

  /** Why no row can be taken now; undefined where one can. */
  refusal(now: number): string | undefined {
    if (this.#isBroken) return 'the disk failed';
    if (this.#isClosed) return 'the tracker is stopping';
    if (!this.#hasRoom) return 'the disk is nearly full';
    if (this.#gathering.rows >= mostWaiting) return 'too many rows wait for the disk';
    return this.#isStalled(now) ? 'the disk does not answer' : undefined;
  }

  append(row: string): Promise<void> {
    const refusal = this.refusal(this.#effects.now());
    if (refusal !== undefined) return Promise.reject(new NotRecordedError(refusal));
    const batch = this.#gathering;
    batch.text += row;
    batch.text += '\n';
    batch.rows++;
    this.#pace.count(batch.rows);
    this.#draining ??= this.#drain();
    return batch.stored.promise;
  }

  /**
   * To be called twice a second. Refuses at once who waits behind a stalled disk, also while an earlier call waits for
   * it; looks once a second at the disk's room and whether the file is old enough.
   */
  async tick(): Promise<void> {
    const now = this.#effects.now();
    if (this.#isStalled(now)) this.#refuseWaiting('the disk does not answer');
    const isDue = now < this.#lookedAt || now - this.#lookedAt >= lookEvery;
    if (isDue) this.#looking ??= this.#look(now).finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  /** Stores what waits and hands the file to landing. Rows that come later are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#draining;
    await this.#series.close();
  }

  async #look(now: number): Promise<void> {
    this.#lookedAt = now;
    await this.#lookForRoom();
    if (this.#durability === 'process') await this.#series.syncNow();
    // While a batch is under way it is that which sees to its file.
    if (this.#draining === undefined) await this.#series.finishWhereDue(now);
  }

  async #drain(): Promise<void> {
    while (this.#gathering.rows > 0) {
      await this.#pace.untilNext(this.#gathering.rows);
      const batch = this.#gathering;
      this.#gathering = newBatch();
      const began = performance.now();
      const now = this.#effects.now();
      this.#underWay = { rows: batch.rows, began: now };
      try {
        await this.#series.add(this.#bytesOf(batch.text), now);
        this.appendSeconds.observe((performance.now() - began) / 1000);
        this.batchRows.observe(batch.rows);
        this.#pace.done(batch.rows, this.#gathering.rows);
        batch.stored.resolve();
      } catch (error) {
        // Whether its rows are in the log cannot be known: nobody is answered.
        if (this.#isBroken) return;
        this.#complain(error);
        refuse(batch, 'the disk took no more');
      }
      this.#underWay = undefined;
    }
    this.#draining = undefined;
  }

  /** In a place of this log's own: one batch is under way at a time, and ever new ones are work for the collector. */
  #bytesOf(text: string): Buffer {
    const most = 3 * text.length;
    if (this.#bytes.length < most) this.#bytes = Buffer.allocUnsafeSlow(2 * most);
    return this.#bytes.subarray(0, this.#bytes.write(text));
  }

  #isStalled(now: number): boolean {
    return this.#underWay !== undefined && now - this.#underWay.began > longestWait;
  }

  /** Those of the batch under way cannot be refused: it may yet be stored. */
  #refuseWaiting(reason: string): void {
    const batch = this.#gathering;
    if (batch.rows === 0) return;
    this.#gathering = newBatch();
    refuse(batch, reason);
  }

  async #lookForRoom(): Promise<void> {
    try {
      const had = this.#hasRoom;
      this.#hasRoom = (await this.#effects.files.freeBytes(this.#landing)) >= leastFree;
      if (had && !this.#hasRoom)
        this.#log.error({ kind: this.kind }, 'less than 256 MiB are free: nothing is recorded until there is more');
      if (!had && this.#hasRoom) this.#log.info({ kind: this.kind }, 'there is room on the disk again');
    } catch (error) {
      // The folder is made with the first row.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    const now = this.#effects.now();
    if (now >= this.#complainedAt && now - this.#complainedAt < complainEvery) return;
    this.#complainedAt = now;
    this.#log.error({ kind: this.kind, reason: (error as Error).message }, 'rows could not be recorded');
  }

  #break(error: unknown): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#log.fatal(
      { kind: this.kind, reason: (error as Error).message },
      'write failed after data was handed to the disk; exiting. The next start recovers the log',
    );
    this.#onBroken(error);
  }
}

function newBatch(): Batch {
  return { text: '', rows: 0, stored: Promise.withResolvers<void>() };
}

function refuse({ stored }: Batch, reason: string): void {
  stored.reject(new NotRecordedError(reason));
}
