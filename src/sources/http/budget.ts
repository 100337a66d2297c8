/** Limit of requests that may begin within any interval of so many seconds. */
export interface BudgetLimit {
  requests: number;
  seconds: number;
}

/** Clocks of a pull, in milliseconds. */
export interface PullClock {
  /** Time since the epoch. */
  now(): number;
  /** The clock that budgets go by: nobody sets it. */
  steady(): number;
  /** Throws the signal's reason once it is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** A number from 0 to 1, for jitter. */
  random(): number;
}

/** Requests of one host and account by one limit. Pulls that share it wait for one another. */
export class Budget {
  readonly #limit: BudgetLimit;
  readonly #clock: PullClock;
  /** Beginnings of the requests within the interval, ascending. */
  readonly #begun: number[] = [];
  #queue: Promise<void> = Promise.resolve();
  #pausedUntil = 0;

  constructor(limit: BudgetLimit, clock: PullClock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Resolves when a request may begin, in the order of the calls. */
  take(signal: AbortSignal): Promise<void> {
    const turn = this.#queue.then(() => this.#wait(signal));
    // An aborted turn releases the next one.
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Lets no request begin for so long, as the server demands. */
  pause(milliseconds: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.steady() + milliseconds);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.steady();
      const length = this.#limit.seconds * 1000;
      while (this.#begun.length > 0 && (this.#begun[0] as number) <= now - length) this.#begun.shift();
      const free = this.#begun.length < this.#limit.requests ? now : (this.#begun[0] as number) + length;
      const until = Math.max(free, this.#pausedUntil);
      if (until <= now) {
        this.#begun.push(now);
        return;
      }
      await this.#clock.wait(until - now, signal);
    }
  }
}

/** The budgets of a process, by host, account and limit. */
export class Budgets {
  readonly #clock: PullClock;
  readonly #budgets = new Map<string, Budget>();

  constructor(clock: PullClock) {
    this.#clock = clock;
  }

  /** Returns the budget of an account: the same for all lists with the same limit. */
  of(host: string, account: string, limit: BudgetLimit): Budget {
    const key = JSON.stringify([host, account, limit.requests, limit.seconds]);
    const known = this.#budgets.get(key);
    if (known !== undefined) return known;
    const budget = new Budget(limit, this.#clock);
    this.#budgets.set(key, budget);
    return budget;
  }
}
