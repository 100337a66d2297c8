import type { FileEffects } from '../../kit/files/effects.ts';
import { ReadFailures } from '../../kit/files/read-failures.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';

/** The pipeline beside the tracker needs room, too. Bytes. */
const minFree = 256 * 1024 * 1024;

/** The free room on the disk of a folder, as it was seen last. */
export class DiskSpace {
  readonly #folder: string;
  readonly #kind: EventKind;
  readonly #files: Pick<FileEffects, 'freeBytes'>;
  readonly #log: Logger;
  readonly #failures = new ReadFailures();
  #isEnough = true;

  constructor(folder: string, kind: EventKind, files: Pick<FileEffects, 'freeBytes'>, log: Logger) {
    this.#folder = folder;
    this.#kind = kind;
    this.#files = files;
    this.#log = log;
  }

  get isEnough(): boolean {
    return this.#isEnough;
  }

  async poll(): Promise<void> {
    const wasEnough = this.#isEnough;
    try {
      this.#isEnough = (await this.#files.freeBytes(this.#folder)) >= minFree;
      this.#failures.end();
    } catch (error) {
      // The folder is made with the first row.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || !this.#failures.shouldReport(error)) return;
      const reason = (error as Error).message;
      this.#log.error(
        { kind: this.#kind, reason },
        `the free room of the disk of ${this.#folder} could not be read; will retry`,
      );
    }
    if (wasEnough && !this.#isEnough)
      this.#log.error(
        { kind: this.#kind },
        `the disk of ${this.#folder} has less than 256 MiB free: no ${this.#kind} are recorded, and senders are answered 503, until it has more`,
      );
    if (!wasEnough && this.#isEnough) this.#log.info({ kind: this.#kind }, 'the disk has room again');
  }
}
