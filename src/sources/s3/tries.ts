import type { PullClock } from '../http/budget.ts';
import { requestedWait, waitAfter } from '../http/retry-waits.ts';
import { isPassing, retryAfter, summaryOf } from './bucket-error.ts';

/** Parts that asking again needs. */
export interface Asking {
  clock: PullClock;
  signal: AbortSignal;
  /** Takes the source's secrets out of a text. */
  redact: (text: string) => string;
  /** Called before a wait, for the log. */
  onRetry: (reason: string, waitMilliseconds: number) => void;
}

const maxTries = 5;
/** A store that asks for more is left to the next pull. */
const maxWaitMilliseconds = 15 * 60_000;

/**
 * The tries of one piece of work: waits after one that failed, or throws its error where another would not help. Not
 * the client's own: they would wait on when the pull is asked to end, tell the log nothing, and know no broken body.
 */
export class Tries {
  readonly #asking: Asking;
  #failed = 0;

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  /** The work goes on: what failed before is forgotten. */
  begin(): void {
    this.#failed = 0;
  }

  /** Throws the signal's reason once that is aborted. `what` failed, for the log, which adds the reason. */
  async failed(error: unknown, what: string): Promise<void> {
    const { clock, signal, redact, onRetry } = this.#asking;
    signal.throwIfAborted();
    this.#failed++;
    if (!isPassing(error) || this.#failed === maxTries) throw error;
    const wait = Math.max(
      requestedWait(retryAfter(error), clock.now()) ?? 0,
      waitAfter(this.#failed, () => clock.random()),
    );
    if (wait > maxWaitMilliseconds) throw error;
    onRetry(`${what}: ${summaryOf(error, redact)}`, wait);
    await clock.wait(wait, signal);
  }
}

/** Does a piece of work, again where that may help. Throws its last error. */
export async function withTries<T>(asking: Asking, what: string, work: () => Promise<T>): Promise<T> {
  const tries = new Tries(asking);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      await tries.failed(error, what);
    }
  }
}
