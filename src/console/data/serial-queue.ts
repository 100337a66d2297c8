/** The queue is full. `Retry-After: 1` is right: a statement takes at most a second. */
export class TooBusyError extends Error {
  override readonly name = 'TooBusyError';

  constructor() {
    super('too many requests for pages at once: try again in a second');
  }
}

/** Runs tasks one after the other, in the order of their calls. */
export class SerialQueue {
  readonly #maxWaiting: number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Throws `TooBusyError` where the queue is full. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting > this.#maxWaiting) throw new TooBusyError();
    this.#waiting++;
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      this.#waiting--;
    }
  }
}
