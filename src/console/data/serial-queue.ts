/** Too many wait already; `Retry-After` a second is honest, for none takes longer. */
export class TooBusyError extends Error {
  override readonly name = 'TooBusyError';

  constructor() {
    super('too many pages are asked for at once: try again in a second');
  }
}

/** Has pieces of work done one after the other, in the order in which they came. */
export class OneAtATime {
  readonly #maxWaiting: number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Throws `TooBusyError` where more wait than may. */
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
