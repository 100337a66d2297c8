import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { isDiskUnwritable } from '../../kit/errors/machine-failure.ts';
import type { Bucket, LimitStatus, RateLimits } from '../../kit/http/sliding-windows.ts';
import { SlidingWindows } from '../../kit/http/sliding-windows.ts';

/** A request that was counted. Moments are milliseconds since the epoch. */
export interface CountedRequest {
  bucket: string;
  at: number;
  expiresAt: number;
  /** Where several servers count: the request's own name among all of them. */
  id?: string | undefined;
  /** Likewise: this server let it in by itself, and the others may not know of it. */
  alone?: boolean | undefined;
}

/** A request as the journal tells it: one that was written without a name has one by its place. */
export type RememberedRequest = CountedRequest & { id: string; alone: boolean };

/** So many files tell the requests of a window. One whose last request has left is removed when another is begun. */
const filesPerWindow = 6;
/** Its beginning, and the process that writes it. */
const fileName = /^(\d+)-\d+\.ndjson$/;

/**
 * Counted requests in files of a folder that are only ever appended to. What one turn of the event loop counts is one
 * line, and its answers wait for that, so no end of the process loses a count. Measured: 2 µs a turn, where a row in
 * SQLite took 15. The disk is not waited for: a loss of power may cost the counts of a window, but waiting was seen to
 * hold up all requests for up to 100 ms.
 */
export class RateLimitJournal {
  readonly #folder: string;
  readonly #windowLength: number;
  readonly #log: Logger;
  #file: { descriptor: number; from: number } | undefined;
  #pending: CountedRequest[] = [];
  #pendingSince: number | undefined;
  #written: Promise<void> | undefined;
  #failing = false;
  #closed = false;
  readonly #makeFolder: (path: string) => void;

  /**
   * The length is that of its longest window, in milliseconds. Throws `OfferlineError` where the folder cannot be used,
   * but for a disk that takes nothing more: that must not keep the feeds from opening.
   */
  constructor(folder: string, windowLength: number, now: number, log: Logger, makeFolder = makePrivateFolder) {
    this.#folder = folder;
    this.#windowLength = windowLength;
    this.#log = log;
    this.#makeFolder = makeFolder;
    try {
      this.#file = this.#begin(now);
    } catch (error) {
      if (isDiskUnwritable(error)) {
        this.#complain(error as Error);
        return;
      }
      throw new OfferlineError(
        `${folder} cannot be used: ${(error as Error).message}. Rate limits are kept there: make it a folder that can be written to`,
        undefined,
        { cause: error },
      );
    }
  }

  /**
   * Those that have not expired, by a clock that may differ by `slack` milliseconds from the one that counted them. One
   * file is read at a time: a busy hour has millions.
   */
  *remembered(now: number, slack = 0): Generator<RememberedRequest, void, undefined> {
    for (const { name } of this.#files()) {
      for (const request of this.#requestsIn(name))
        if (request.at <= now + slack && request.expiresAt > now - slack) yield request;
    }
  }

  /** Returns when the request is written down. `now`: later than the request, where another server counted it. */
  counted(request: CountedRequest, now = request.at): Promise<void> {
    this.#pending.push(request);
    this.#pendingSince ??= now;
    return (this.#written ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#write();
        resolve();
      });
    }));
  }

  close(): void {
    if (this.#closed) return;
    this.#write();
    this.#closed = true;
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = undefined;
  }

  /** A full disk must not close the feeds: memory goes on counting. Said once until it works again. */
  #write(): void {
    const requests = this.#pending;
    this.#pending = [];
    this.#written = undefined;
    const now = this.#pendingSince;
    this.#pendingSince = undefined;
    if (now === undefined) return;
    try {
      if (this.#closed) throw new Error('the journal is closed');
      this.#file ??= this.#begin(now);
      const isInTime =
        Math.abs(now - this.#file.from) < this.#windowLength / filesPerWindow ||
        this.#rotate(this.#file.descriptor, now);
      // The line feed comes first: a line that a full disk cut off must not spoil the next one.
      const line = Buffer.from(
        `\n${JSON.stringify(requests.map(({ bucket, at, expiresAt, id, alone }) => (id === undefined ? [bucket, at, expiresAt] : [bucket, at, expiresAt, id, alone === true ? 1 : 0])))}`,
      );
      for (let written = 0; written < line.length;) written += writeSync(this.#file.descriptor, line, written);
      if (isInTime) this.#failing = false;
    } catch (error) {
      this.#complain(error as Error);
    }
  }

  /** Whether another file was begun. Where none can be, the one there is goes on: no count is lost by that. */
  #rotate(descriptor: number, now: number): boolean {
    try {
      this.#file = this.#begin(now);
    } catch (error) {
      this.#complain(error as Error);
      return false;
    }
    closeSync(descriptor);
    return true;
  }

  /** Begins a file and removes those, of any process, whose last requests have left their windows. */
  #begin(now: number): { descriptor: number; from: number } {
    this.#makeFolder(this.#folder);
    const descriptor = openSync(join(this.#folder, `${now}-${process.pid}.ndjson`), 'a');
    const longest = this.#windowLength + this.#windowLength / filesPerWindow;
    for (const { name, from } of this.#files())
      if (now - from >= longest) rmSync(join(this.#folder, name), { recursive: true, force: true });
    return { descriptor, from: now };
  }

  #complain({ message }: Error): void {
    if (!this.#failing)
      this.#log.error(
        { reason: message },
        'counted requests cannot be written down as they should; they are counted in memory, and a restart may forget them',
      );
    this.#failing = true;
  }

  #files(): { name: string; from: number }[] {
    // Where it could not be made, nothing was counted.
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder).flatMap((name) => {
      const from = fileName.exec(name)?.[1];
      return from === undefined ? [] : [{ name, from: Number(from) }];
    });
  }

  *#requestsIn(name: string): Generator<RememberedRequest, void, undefined> {
    let damaged = 0;
    let place = 0;
    for (const line of this.#textOf(name).split('\n')) {
      if (line === '') continue;
      try {
        for (const [bucket, at, expiresAt, id, alone] of JSON.parse(line) as [
          string,
          number,
          number,
          string?,
          number?,
        ][])
          yield { bucket, at, expiresAt, id: id ?? `${name}:${place++}`, alone: id === undefined || alone === 1 };
      } catch {
        damaged++;
      }
    }
    if (damaged > 0)
      this.#log.error(
        { file: join(this.#folder, name), lines: damaged },
        'lines of counted requests are damaged and were passed over: these requests are not counted',
      );
  }

  /**
   * Nothing where another process has just removed it, or where it cannot be read: that must not keep the feeds from
   * opening.
   */
  #textOf(name: string): string {
    const file = join(this.#folder, name);
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT')
        this.#log.error({ file, reason: message }, 'counted requests cannot be read: they are not counted');
      return '';
    }
  }
}

/** Sliding windows that outlive the process: decided in memory, written down before the answer leaves. */
export class JournaledWindows implements RateLimits {
  readonly #windows: SlidingWindows;
  readonly #journal: RateLimitJournal;

  /** `maxWindows`: see `SlidingWindows`. */
  constructor(journal: RateLimitJournal, now: number, bounds?: { maxWindows: number }) {
    this.#windows = new SlidingWindows(bounds);
    this.#journal = journal;
    this.#windows.restore(
      journal.remembered(now).map(({ bucket, at, expiresAt }) => ({ name: bucket, length: expiresAt - at, at })),
    );
  }

  async consume(bucket: Bucket, now: number): Promise<LimitStatus> {
    const status = this.#windows.consume(bucket, now);
    if (status.allowed) await this.#journal.counted({ bucket: bucket.name, at: now, expiresAt: now + bucket.length });
    return status;
  }

  peek(bucket: Bucket, now: number): LimitStatus {
    return this.#windows.peek(bucket, now);
  }
}
