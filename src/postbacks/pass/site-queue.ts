import type { Site } from '../../kit/sites/sites.ts';
import type { CircuitBreaker } from '../rules/circuit-breaker.ts';
import type { ClaimedPostback, FinishedAttempt } from '../store/queue-store.ts';
import type { Outcome } from '../rules/outcome.ts';
import { postbackRequest } from '../http/postback-request.ts';
import { nextAttemptAt } from '../rules/retry-plan.ts';
import type { PostbackSender } from '../http/sender.ts';

/** Requests under way to one site: few enough for a small script on shared hosting, 40 a second at 200 ms each. */
const concurrency = 8;

/**
 * Claimed ahead, so that a site never waits for the store; claims of a pass that was killed are free again at the next.
 */
const claimedAhead = 256;

/** Effects that all queues of a pass share. */
export interface SiteQueueEffects {
  sender: PostbackSender;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** From 0 up to 1. */
  random: () => number;
  /** After so long a queue whose requests take more than a second on average leaves the rest to the next pass. */
  patienceMilliseconds: number;
  /** Asked before each attempt: false leaves the rest to another pass. */
  mayGoOn?: (() => boolean) | undefined;
  onFinished: (attempt: FinishedAttempt) => void;
  onUnsent: (claimed: ClaimedPostback) => void;
}

/** Postbacks of one site that a pass has claimed, apart from all other sites, those at the same host too. */
export class SiteQueue {
  readonly site: Site;
  readonly breaker: CircuitBreaker;
  readonly #effects: SiteQueueEffects;
  readonly #waiting: ClaimedPostback[] = [];
  readonly #openedAt = performance.now();
  #claimed = 0;
  #underWay = 0;
  #ended = 0;
  #wasStopped = false;

  constructor(site: Site, breaker: CircuitBreaker, effects: SiteQueueEffects) {
    this.site = site;
    this.breaker = breaker;
    this.#effects = effects;
  }

  /** Postbacks that may still be claimed for it; none once the site does not answer or is slow. */
  get room(): number {
    if (this.#isClosed) return 0;
    return (this.breaker.probing ? 1 : claimedAhead) - this.#claimed;
  }

  /** Fewer are claimed than may be under way at once. */
  get canSendMore(): boolean {
    return this.#claimed < concurrency;
  }

  add(claimed: ClaimedPostback[]): void {
    this.#claimed += claimed.length;
    this.#waiting.push(...claimed);
    this.#sendMore();
  }

  /** Sends no more; requests under way go on to their end. */
  stop(): void {
    this.#wasStopped = true;
    this.#sendMore();
  }

  /** Stopped from outside, perhaps with more to send. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  /** By hand: a queue of a library took a tenth of a pass's time and half as much memory again. */
  #sendMore(): void {
    // Before the look at what may be sent: a process that is stopped after it has lost its time when it wakes up.
    const since = performance.now();
    if (this.#isClosed) {
      this.#claimed -= this.#waiting.length;
      for (const each of this.#waiting.splice(0)) this.#effects.onUnsent(each);
    }
    while (this.#underWay < this.#atOnce && this.#waiting.length > 0)
      void this.#attempt(this.#waiting.shift() as ClaimedPostback, since);
  }

  /** Each failure in a row halves it: when all requests under way hang, no more are sent before that is known. */
  get #atOnce(): number {
    return Math.max(1, concurrency >> this.breaker.strikes);
  }

  get #isClosed(): boolean {
    const open = performance.now() - this.#openedAt;
    const isSlow = open > this.#effects.patienceMilliseconds && this.#ended * 1000 < open * concurrency;
    return isSlow || this.#wasStopped || this.breaker.stopped || this.#effects.mayGoOn?.() === false;
  }

  async #attempt(claimed: ClaimedPostback, since: number): Promise<void> {
    const { now, random, onFinished } = this.#effects;
    this.#underWay += 1;
    const startedAt = now();
    const outcome = await this.#send(claimed, startedAt, since);
    const endedAt = now();
    this.#underWay -= 1;
    this.#claimed -= 1;
    this.#ended += 1;
    this.breaker.ended(outcome, endedAt);
    const planAttempts = claimed.planAttempts + 1;
    const isOver = outcome.error === null || outcome.error === 'gone';
    const next = isOver ? null : nextAttemptAt(endedAt, planAttempts, outcome.retryAfterSeconds, random);
    onFinished({
      sequence: claimed.sequence,
      siteKey: claimed.postback.siteKey,
      clickId: claimed.postback.clickId,
      attempts: claimed.attempts + 1,
      planAttempts,
      startedAt,
      outcome,
      state: outcome.error === null ? 'delivered' : next === null ? 'dead' : 'pending',
      nextAttemptAt: next,
    });
    this.#sendMore();
  }

  /** One postback that cannot be made into a request is a failed attempt: it must not hold up all others for ever. */
  async #send(claimed: ClaimedPostback, startedAt: number, since: number): Promise<Outcome> {
    try {
      return await this.#effects.sender.send(postbackRequest(this.site, claimed.postback, startedAt), since);
    } catch {
      return { status: null, error: 'unsendable', retryAfterSeconds: null, durationMilliseconds: 0, host: '' };
    }
  }
}
