import type { SparkWork } from './spark-work.ts';

/** Time without an executor after which a run says so. Milliseconds. */
const warnMilliseconds = 60_000;

type WaitingWork = Pick<SparkWork, 'executorWaitSeconds' | 'warn' | 'now' | 'executorMemory' | 'executorCores'>;

/** Watches that a query gets an executor: a cluster that has none with the wanted memory waits for ever, in silence. */
export class ExecutorWait {
  readonly #work: WaitingWork;
  readonly #now: () => number;
  #since: number | undefined;
  #hasWarned = false;

  constructor(work: WaitingWork) {
    this.#work = work;
    this.#now = work.now ?? (() => performance.now());
  }

  /** A query begins: executors of the one before may have gone meanwhile. */
  begin(): void {
    this.#since = undefined;
    this.#hasWarned = false;
  }

  /** Takes the present number of executors. Returns why the query is given up, once it has waited for too long. */
  heard(executors: number): string | undefined {
    if (executors > 0) {
      this.begin();
      return undefined;
    }
    const now = this.#now();
    this.#since ??= now;
    const waited = now - this.#since;
    const limit = this.#work.executorWaitSeconds;
    if (waited >= limit * 1000)
      return `Spark has had no executor for the ${limit} s that engine.executor_wait_s in offerline.json allows: ${this.#cause}`;
    if (waited >= warnMilliseconds && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#work.warn(`Spark has had no executor for a minute, and the run fails after ${limit} s: ${this.#cause}`);
    }
    return undefined;
  }

  get #cause(): string {
    const { executorMemory: memory, executorCores: cores } = this.#work;
    const wanted = [
      ...(memory === undefined ? [] : [`engine.resources.executor_memory ${memory}`]),
      ...(cores === undefined ? [] : [`engine.resources.executor_cores ${cores}`]),
    ].join(' and ');
    return `no worker of the cluster has room for one${wanted === '' ? '' : ` with ${wanted}`}, or others hold all workers. Start a worker with more, or ask for less; the master's own page shows what its workers have`;
  }
}
