/** In place of a version, so that the next look finds another: of a file that is to be read again whatever it says. */
export const toBeReadAgain = 'to be read again';

/** Failures to read what is followed: which are worth another try, and which were told of already. */
export class FailedReadings {
  #told: string | undefined;

  /** Whether it is to be told of: what is tried again is told once. */
  isNews(error: unknown): boolean {
    const reason = (error as Error).message;
    const isNews = !mayPass(error) || reason !== this.#told;
    this.#told = reason;
    return isNews;
  }

  /** After a reading that went well: the next failure is news. */
  end(): void {
    this.#told = undefined;
  }
}

/**
 * Whether the system refused to read, for want of descriptors for example, which may pass while the file stays as it
 * is. What a file says wrongly it says until it is another, and to read it each second would cost.
 */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).syscall !== undefined || mayPass(error.cause);
}
