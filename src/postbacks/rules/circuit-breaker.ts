import { backoffWait } from '../../kit/time/backoff.ts';
import type { Outcome, OutcomeError } from './outcome.ts';

const minute = 60_000;

/** Pauses of a site that does not answer, doubled with every probe that fails. */
const pauses = { first: minute, max: 30 * minute };

/**
 * So many in a row, since one may be chance. Less than a site's concurrency, so that the requests under way decide it.
 */
const strikesToOpen = 5;

/** Failures that say that the receiver cannot be reached or does not answer in time. */
const unanswered: OutcomeError[] = ['timeout', 'connection', 'tls', 'dns'];

/** Kept in the store between passes; a site without one is as usual. */
export interface OpenCircuit {
  /** Number of times that it was opened in a row. */
  openings: number;
  /** Moment before which nothing is sent, in milliseconds since the epoch. */
  pausedUntil: number;
}

/** True while nothing may be sent. A pause longer than any was set by a clock that has gone back since: it is over. */
export function isPaused({ openings, pausedUntil }: OpenCircuit, now: number): boolean {
  return now < pausedUntil && pausedUntil <= now + backoffWait(pauses, openings);
}

/**
 * Pauses a receiver that cannot be reached or does not answer in time, and the pass its deadlines: after some such
 * failures in a row nothing is sent to the site for a while, then one probe. Any status line shows
 * that the receiver is there: a refusal is a matter of each postback's own plan.
 */
export class CircuitBreaker {
  #strikes = 0;
  #open: OpenCircuit | undefined;
  #stopped = false;

  constructor(open: OpenCircuit | undefined, now: number) {
    this.#open = open;
    this.#stopped = open !== undefined && isPaused(open, now);
  }

  /** Number of such failures in a row so far. */
  get strikes(): number {
    return this.#strikes;
  }

  /** True where nothing may be sent in this pass any more. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** True where one is to be sent alone, to see how the receiver is. */
  get probing(): boolean {
    return !this.#stopped && this.#open !== undefined;
  }

  /** State for the store: undefined when the site is as usual. */
  get open(): OpenCircuit | undefined {
    return this.#open;
  }

  ended({ error }: Pick<Outcome, 'error'>, now: number): void {
    if (error === null || !unanswered.includes(error)) {
      this.#strikes = 0;
      // What was still on the way when it was opened says nothing about the receiver since.
      if (!this.#stopped) this.#open = undefined;
      return;
    }
    this.#strikes += 1;
    if (this.#stopped || (!this.probing && this.#strikes < strikesToOpen)) return;
    const openings = (this.#open?.openings ?? 0) + 1;
    this.#open = { openings, pausedUntil: now + backoffWait(pauses, openings) };
    this.#stopped = true;
  }
}
