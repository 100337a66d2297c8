import pLimit, { type LimitFunction } from 'p-limit';

/** Concurrent requests; each may have a picture of some megabytes in memory. */
const maxRequests = 8;
/** Concurrent requests to one host: advertisers' servers are not ours to burden. */
const maxRequestsOfHost = 2;
/** Requests in a row without an answer after which a pass skips the host. */
const maxUnanswered = 5;

/**
 * Limits on requests by host. A host's requests wait for each other first and then for a place among all, so a slow
 * host takes two places at most; one that does not answer costs a pass a few time limits, however many pictures it has.
 */
export class HostLimits {
  readonly #all = pLimit(maxRequests);
  readonly #hosts = new Map<string, LimitFunction>();
  readonly #unanswered = new Map<string, number>();

  /** Does the work when there is a place. Skips it and returns undefined where the host does not answer. */
  async run<T>(host: string, work: () => Promise<T>): Promise<T | undefined> {
    let limit = this.#hosts.get(host);
    if (limit === undefined) this.#hosts.set(host, (limit = pLimit(maxRequestsOfHost)));
    return limit(() => this.#all(async () => ((this.#unanswered.get(host) ?? 0) < maxUnanswered ? work() : undefined)));
  }

  /** Records whether a request had an answer. */
  answered(host: string, isAnswered: boolean): void {
    this.#unanswered.set(host, isAnswered ? 0 : (this.#unanswered.get(host) ?? 0) + 1);
  }
}
