import type { RateLimitJournal } from './rate-limit-journal.ts';
import type { Bucket, RateLimits, Reading } from './rate-limits.ts';
import { SlidingWindows } from './sliding-windows.ts';

/** Sliding windows that outlive the process: decided in memory, written down before the answer leaves. */
export class JournaledWindows implements RateLimits {
  readonly #windows: SlidingWindows;
  readonly #journal: RateLimitJournal;

  /** `most`: see `SlidingWindows`. */
  constructor(journal: RateLimitJournal, now: number, bounds?: { most: number }) {
    this.#windows = new SlidingWindows(bounds);
    this.#journal = journal;
    this.#windows.restore(
      journal.remembered(now).map(({ bucket, at, expiresAt }) => ({ name: bucket, length: expiresAt - at, at })),
    );
  }

  async take(bucket: Bucket, now: number): Promise<Reading> {
    const reading = this.#windows.take(bucket, now);
    if (reading.allowed) await this.#journal.counted({ bucket: bucket.name, at: now, expiresAt: now + bucket.length });
    return reading;
  }

  look(bucket: Bucket, now: number): Reading {
    return this.#windows.look(bucket, now);
  }
}
