import { RepeatedFailure } from '../logging/repeated-failure.ts';

/** Version of a file that the next poll must read again, changed or not. */
export const versionToReadAgain = 'to be read again';

/** Failures to read a file that is followed: which of them to log, since a transient one repeats with every poll. */
export class ReadFailures {
  readonly #failure = new RepeatedFailure();

  /** False for a transient failure that was the last one reported too. */
  shouldReport(error: unknown): boolean {
    const isNew = this.#failure.isNew((error as Error).message);
    return isNew || !isTransient(error);
  }

  /** Marks a reading that went well. */
  end(): void {
    this.#failure.pass();
  }
}

/**
 * True where the system refused to read, for want of descriptors for example: the next try may pass with the file as it
 * is. Wrong content stays wrong until the file changes, and reading it again each second would cost.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).syscall !== undefined || isTransient(error.cause);
}
