import { hash } from 'node:crypto';
import type { BegunRequests } from './begun-requests.ts';

/** Limit of requests that may begin within any interval of so many seconds. */
export interface BudgetLimit {
  requests: number;
  seconds: number;
}

/** Clocks of a pull, in milliseconds. */
export interface PullClock {
  /** Time since the epoch. */
  now(): number;
  /** The clock that budgets go by: nobody sets it, and all processes of a machine have the same. */
  steady(): number;
  /** Throws the signal's reason once it is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** A number from 0 to 1, for jitter. */
  random(): number;
}

/** Requests of one host and account by one limit. Pulls that share it wait for one another. */
export class Budget {
  readonly #key: string;
  readonly #limit: BudgetLimit;
  readonly #clock: PullClock;
  readonly #begun: BegunRequests;
  #queue: Promise<void> = Promise.resolve();

  constructor(key: string, limit: BudgetLimit, clock: PullClock, begun: BegunRequests) {
    this.#key = key;
    this.#limit = limit;
    this.#clock = clock;
    this.#begun = begun;
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
    this.#begun.pause(this.#key, this.#clock.steady() + milliseconds);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { requests, seconds } = this.#limit;
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.steady();
      const until = this.#begun.begin(this.#key, { requests, length: seconds * 1000, now });
      if (until <= now) return;
      await this.#clock.wait(until - now, signal);
    }
  }
}

/** Budgets by host, account and limit. */
export class Budgets {
  readonly #clock: PullClock;
  readonly #begun: BegunRequests;
  readonly #budgets = new Map<string, Budget>();

  /** `begun`: what processes share. */
  constructor(clock: PullClock, begun: BegunRequests) {
    this.#clock = clock;
    this.#begun = begun;
  }

  /** Returns the budget of an account: the same for all lists with the same limit. */
  of(host: string, account: string, limit: BudgetLimit): Budget {
    // An account is its secrets.
    const key = hash('sha256', JSON.stringify([host, account, limit.requests, limit.seconds])).slice(0, 32);
    const known = this.#budgets.get(key);
    if (known !== undefined) return known;
    const budget = new Budget(key, limit, this.#clock, this.#begun);
    this.#budgets.set(key, budget);
    return budget;
  }
}
