import { isDiskUnwritable } from '../../kit/errors/machine-failure.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { RepeatedFailure } from '../../kit/logging/repeated-failure.ts';
import { realWait, type AbortableWait } from '../../kit/time/abortable-wait.ts';
import type { Schedule } from './schedule.ts';

const retryMilliseconds = 10_000;

/**
 * Opens the schedule of `start`. Where the disk takes nothing, so that its lock cannot be taken, gives one that opens
 * as soon as it can: the service beside it needs no disk. Any other error of the first try is thrown.
 */
export async function openWhenWritable(
  open: () => Promise<Schedule>,
  logger: Logger,
  wait: AbortableWait = realWait,
): Promise<Schedule> {
  try {
    return await open();
  } catch (error) {
    if (!isDiskUnwritable(error)) throw error;
    logger.error(
      { reason: (error as Error).message },
      'the disk takes nothing: what was published is served, and the schedule begins once it can write',
    );
    return new DeferredSchedule(open, logger, wait);
  }
}

class DeferredSchedule implements Schedule {
  /** Nothing is caught up while the disk takes nothing, and nobody is to wait for that. */
  readonly caughtUp = Promise.resolve();
  readonly #stopping = new AbortController();
  readonly #opening: Promise<Schedule | undefined>;

  constructor(open: () => Promise<Schedule>, logger: Logger, wait: AbortableWait) {
    this.#opening = this.#open(open, logger, wait);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await (await this.#opening)?.stop();
  }

  async #open(open: () => Promise<Schedule>, logger: Logger, wait: AbortableWait): Promise<Schedule | undefined> {
    const { signal } = this.#stopping;
    const failure = new RepeatedFailure();
    for (;;) {
      await wait(retryMilliseconds, signal).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        const schedule = await open();
        logger.info('the disk can be written again: the schedule has begun');
        return schedule;
      } catch (error) {
        const { message: reason } = error as Error;
        if (!isDiskUnwritable(error) && failure.isNew(reason))
          logger.error({ reason }, 'the schedule cannot begin; will retry');
      }
    }
  }
}
