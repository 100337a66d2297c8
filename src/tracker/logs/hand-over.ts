import type { Logger } from '../../kit/logging/log.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import type { LogFolder, LogPart } from './log-part.ts';

/**
 * Files that nothing more is written to, on their way to landing; what fails is tried again. Where somebody moved or
 * removed one before, its rows are written again into another file, since they were answered for. Should the old file
 * come back, its rows are known by their ids.
 */
export class HandOver {
  readonly #folder: LogFolder;
  readonly #kind: EventKind;
  readonly #log: Logger;
  readonly #finished = new Set<LogPart>();
  /** Files that are not where they were written. */
  readonly #moved = new Set<LogPart>();
  /** Files whose failure is in the log. */
  readonly #reported = new WeakSet<LogPart>();
  #running: Promise<void> | undefined;

  constructor(folder: LogFolder, kind: EventKind, log: Logger) {
    this.#folder = folder;
    this.#kind = kind;
    this.#log = log;
  }

  /** Hands a file over in the background. */
  add(part: LogPart): void {
    this.#finished.add(part);
    this.retry();
  }

  /** Writes the rows of a file again that is not where it was written, in the background. */
  rescue(part: LogPart): void {
    this.#moved.add(part);
    this.retry();
  }

  retry(): void {
    if (this.#finished.size > 0 || this.#moved.size > 0)
      this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  /** Resolves when all files are handed over, or have failed once more. */
  async settled(): Promise<void> {
    await this.#running;
    // Files that came while others were under way.
    this.retry();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const part of this.#finished) await this.#handOver(part);
    for (const part of this.#moved) await this.#writeAgain(part);
  }

  async #handOver(part: LogPart): Promise<void> {
    if (this.#folder.isBroken) return;
    try {
      if (await part.isInPlace()) {
        await part.handOver();
        if (part.bytes > 0) this.#log.debug({ kind: this.#kind, bytes: part.bytes }, 'a log is handed to landing');
      } else this.#moved.add(part);
    } catch (error) {
      if (await part.isInPlace()) {
        this.#report(part, error, 'a finished log could not be handed to landing; will retry each second');
        return;
      }
      this.#moved.add(part);
    }
    this.#finished.delete(part);
  }

  async #writeAgain(part: LogPart): Promise<void> {
    try {
      if (part.bytes > 0) this.#finished.add(await this.#copy(part));
    } catch (error) {
      this.#report(
        part,
        error,
        'a log was moved or removed before it was handed over, and its rows cannot be written again yet; will retry each second. Make its folder writable, and do not end the tracker before',
      );
      return;
    }
    this.#moved.delete(part);
    await part.close();
    this.#log.error(
      { kind: this.#kind, file: part.path, bytes: part.bytes },
      'a log was moved or removed before it was handed over; its rows are written again, into another',
    );
    for (const copy of this.#finished) await this.#handOver(copy);
  }

  async #copy(part: LogPart): Promise<LogPart> {
    const copy = await this.#folder.open();
    try {
      await part.copyTo(copy);
      return copy;
    } catch (error) {
      await copy.discard();
      throw error;
    }
  }

  /** Once for each file, whose next tries fail alike. */
  #report(part: LogPart, error: unknown, message: string): void {
    if (this.#reported.has(part)) return;
    this.#reported.add(part);
    const reason = (error as Error).message;
    this.#log.error({ kind: this.#kind, file: part.path, bytes: part.bytes, reason }, message);
  }
}
