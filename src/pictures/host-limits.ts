import pLimit, { type LimitFunction } from 'p-limit';

/** Each may have a picture of some megabytes in memory. */
const mostAtOnce = 8;
/** An advertiser's server is not ours to burden. */
const mostAtOneHost = 2;
/** After so many that got no answer in a row, a host has the rest of the pass for itself. */
const mostSilent = 5;

/**
 * When which host may be asked. A host's requests wait for each other first and then for a place among all, so a slow
 * one takes two places and no more; and one that does not answer costs a pass a few time limits, however many pictures
 * it has.
 */
export class HostLimits {
  readonly #all = pLimit(mostAtOnce);
  readonly #hosts = new Map<string, LimitFunction>();
  readonly #silent = new Map<string, number>();

  /** Does the work when there is a place; gives undefined, and does nothing, where the host has been silent. */
  async run<T>(host: string, work: () => Promise<T>): Promise<T | undefined> {
    let limit = this.#hosts.get(host);
    if (limit === undefined) this.#hosts.set(host, (limit = pLimit(mostAtOneHost)));
    return limit(() => this.#all(async () => ((this.#silent.get(host) ?? 0) < mostSilent ? work() : undefined)));
  }

  /** To be told after each request, whether any answer came. */
  answered(host: string, isAnswered: boolean): void {
    this.#silent.set(host, isAnswered ? 0 : (this.#silent.get(host) ?? 0) + 1);
  }
}
