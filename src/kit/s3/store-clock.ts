import type { S3Client } from '@aws-sdk/client-s3';

/** A `Date` header has whole seconds, cut. */
const dateMilliseconds = 1000;

/** Compares this machine's clock with a store's, by the `Date` header of every answer. */
export class StoreClock {
  readonly #now: () => number;
  #offset: number | undefined;

  /** `now`: this machine's clock, in milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Milliseconds by which this machine's clock is ahead of the store's, at the last answer; negative where it is
   * behind. The least that the answer allows, however long it took: 0 where the clocks may agree. Undefined before an
   * answer.
   */
  get offset(): number | undefined {
    return this.#offset;
  }

  watch(client: S3Client): void {
    client.middlewareStack.add(
      (next) => async (request) => {
        const sent = this.#now();
        const result = await next(request);
        const { headers = {} } = result.response as { headers?: Record<string, string> };
        // An answer out of a cache has the date of another one.
        if (headers['age'] === undefined) this.#compare(Date.parse(headers['date'] ?? ''), sent, this.#now());
        return result;
      },
      { name: 'storeClock', step: 'deserialize', priority: 'low' },
    );
  }

  /** The store wrote `date` between `sent` and `received`. */
  #compare(date: number, sent: number, received: number): void {
    if (Number.isNaN(date)) return;
    const ahead = Math.max(0, sent - date - dateMilliseconds);
    this.#offset = ahead > 0 ? ahead : Math.min(0, received - date);
  }
}
