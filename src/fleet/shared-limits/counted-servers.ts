import type { Logger } from 'pino';

/** Time between two reports of a server, and after how many looks in a row too many are believed. Milliseconds. */
export const reportMilliseconds = 20_000;
/** More than a server that was killed is counted for: one that starts again is not two. */
const looksInARow = 5;

/** Compares the number of servers that share the limits with `limits.servers`, and warns once where it is too small. */
export class CountedServers {
  readonly #count: () => Promise<number | undefined>;
  readonly #servers: number;
  readonly #log: Pick<Logger, 'warn'>;
  #tooMany = 0;

  /** `count` reports this server and returns how many have reported lately; undefined while Redis is away. */
  constructor(count: () => Promise<number | undefined>, servers: number, log: Pick<Logger, 'warn'>) {
    this.#count = count;
    this.#servers = servers;
    this.#log = log;
  }

  async look(): Promise<void> {
    const counted = await this.#count();
    if (counted === undefined) return;
    this.#tooMany = counted > this.#servers ? this.#tooMany + 1 : 0;
    if (this.#tooMany !== looksInARow) return;
    this.#log.warn(
      { counted, servers: this.#servers },
      `${counted} services share the rate limits, and limits.servers says ${this.#servers}: while Redis is away, each allows its part of ${this.#servers}, together more than the limit. Set limits.servers to ${counted} in the offerline.json of each`,
    );
  }
}
