import { isDiskUnwritable } from '../kit/errors/machine-failure.ts';
import type { Logger } from '../kit/logging/log.ts';
import { RepeatedFailure } from '../kit/logging/repeated-failure.ts';
import { realWait, type AbortableWait } from '../kit/time/abortable-wait.ts';
import { StandbyServer } from '../tracker/server/standby-server.ts';

/** Time between two tries of work that the disk refuses. */
const retryMilliseconds = 1000;

/** Where a tracker on standby listens, once it has to. */
export interface StandbyListening {
  /** Starts to listen, reports that to the process that started this one, and returns the address. */
  listen: (server: StandbyServer) => Promise<string>;
  logger: Logger;
  /** Aborted when the process is asked to end. */
  stopped: AbortSignal;
}

/** Listens and refuses all while a tracker cannot begin yet. */
export class TrackerStandby {
  /** Aborted when the process is asked to end, or cannot listen. */
  readonly signal: AbortSignal;
  readonly #listening: StandbyListening;
  readonly #wait: AbortableWait;
  readonly #server = new StandbyServer();
  readonly #failed = new AbortController();
  readonly #refusal = new RepeatedFailure();
  #begun: Promise<void> | undefined;
  #address: string | undefined;

  constructor(listening: StandbyListening, wait: AbortableWait = realWait) {
    this.#listening = listening;
    this.#wait = wait;
    this.signal = AbortSignal.any([listening.stopped, this.#failed.signal]);
  }

  /** `reason`: of the answers from now on. The first one listens, and logs the message. */
  begin(reason: string, message: string): void {
    this.#server.reason = reason;
    this.#begun ??= this.#begin(message).catch((error: unknown) => this.#failed.abort(error));
  }

  /**
   * Does work that the disk may refuse, as when it is full or read-only, as often as it takes. Rejects with the reason
   * of `signal`, and with any other error of the work.
   */
  async whenDiskTakes<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isDiskUnwritable(error)) throw error;
        const { message: reason } = error as Error;
        if (this.#refusal.isNew(reason)) this.#listening.logger.error({ reason }, 'the disk takes nothing; will retry');
        this.begin(
          'the disk takes nothing',
          'this tracker is on standby: it answers 503, and tracks once the disk can be written',
        );
      }
      await this.#wait(retryMilliseconds, this.signal);
    }
  }

  /** The address at which it listens or did; undefined where it never had to. */
  get address(): string | undefined {
    return this.#address;
  }

  /** Throws where it could not listen. */
  throwIfFailed(): void {
    this.#failed.signal.throwIfAborted();
  }

  /** Frees the port, for the tracker. */
  async close(): Promise<void> {
    await this.#begun;
    await this.#server.close();
  }

  async #begin(message: string): Promise<void> {
    const { listen, logger } = this.#listening;
    this.#address = await listen(this.#server);
    logger.info({ address: this.#address }, message);
  }
}
