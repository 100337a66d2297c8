import type { Logger } from '../../kit/logging/log.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { HandOver } from './hand-over.ts';
import { dayNumberOf } from './log-names.ts';
import type { LogFolder, LogPart } from './log-part.ts';

/** A file is handed to landing when it is so large. Bytes. */
const maxBytes = 64 * 1024 * 1024;

/**
 * The files of one log, one after the other: each is handed to landing when it is old or large enough, the day ends or
 * the tracker stops. None is ever opened again, and none is handed over empty. One call of `add` or `check` at a time.
 */
export class LogSeries {
  readonly #folder: LogFolder;
  /** Milliseconds. */
  readonly #maxAge: number;
  readonly #handOver: HandOver;
  #part: LogPart | undefined;

  constructor(folder: LogFolder, kind: EventKind, maxAge: number, log: Logger) {
    this.#folder = folder;
    this.#maxAge = maxAge;
    this.#handOver = new HandOver(folder, kind, log);
  }

  /** The file that is written to now. */
  get part(): Pick<LogPart, 'bytes' | 'openedAt'> | undefined {
    return this.#part;
  }

  /** Adds all of the rows, or throws and adds none. */
  async add(rows: Buffer, now: number): Promise<void> {
    this.#finishWhereDue(now);
    this.#part ??= await this.#folder.open();
    await this.#part.append(rows);
  }

  /** Hands over what is due, and notices when the file was moved away. */
  async check(now: number): Promise<void> {
    const part = this.#part;
    if (part !== undefined && !(await part.isInPlace())) {
      this.#part = undefined;
      this.#handOver.rescue(part);
    }
    this.#finishWhereDue(now);
    this.#handOver.retry();
  }

  async sync(): Promise<void> {
    await this.#part?.sync();
  }

  /** Resolves when what is due is handed over, or will be tried again. */
  settled(): Promise<void> {
    return this.#handOver.settled();
  }

  /** Hands the last file over. */
  async close(): Promise<void> {
    if (this.#part !== undefined) this.#handOver.add(this.#part);
    this.#part = undefined;
    await this.settled();
  }

  #finishWhereDue(now: number): void {
    if (this.#part === undefined || !this.#isDue(this.#part, now)) return;
    this.#handOver.add(this.#part);
    this.#part = undefined;
  }

  #isDue({ openedAt, bytes }: LogPart, now: number): boolean {
    // A clock that was set back would otherwise keep a file open for as long.
    const isOld = Math.abs(now - openedAt) >= this.#maxAge;
    return bytes >= maxBytes || isOld || dayNumberOf(now) !== dayNumberOf(openedAt);
  }
}
