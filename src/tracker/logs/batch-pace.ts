import { setImmediate } from 'node:timers/promises';

/** Between the beginnings of two batches, unless enough rows wait before. Milliseconds. */
const gatherFor = 1;
/** So many rows are enough while no more come during a batch. */
const enoughRows = 32;
/**
 * Where more come, this share of them is waited for again: what a batch costs is shared by all its rows, and the few
 * others keep the process at work while the disk is.
 */
const gatheredShare = 7 / 8;
/** For so long. Milliseconds. */
const gatherManyFor = 2.5;

/**
 * When a batch of rows begins: who comes alone does not wait, but the first one after a load, and under load whoever
 * comes within its time gets into it. To hand a batch to the disk costs as much as some clicks, whatever it holds.
 */
export class BatchPace {
  #lastBegan = Number.NEGATIVE_INFINITY;
  #enough = enoughRows;
  /** By the time of this process. Milliseconds. */
  #dueAt = 0;
  #begin: (() => void) | undefined;

  /** Of a row that came: how many wait now. */
  count(waiting: number): void {
    // Timers are late by up to a millisecond, and rows come more often.
    if (this.#begin !== undefined && (waiting >= this.#enough || performance.now() >= this.#dueAt)) this.#begin();
  }

  /** Resolves when the next batch is to begin. `waiting`: rows that are there for it. */
  async untilNext(waiting: number): Promise<void> {
    const now = performance.now();
    this.#dueAt = this.#enough > enoughRows ? now + gatherManyFor : this.#lastBegan + gatherFor;
    if (waiting >= this.#enough || now >= this.#dueAt) await setImmediate();
    else await this.#untilDue(this.#dueAt - now);
    this.#lastBegan = performance.now();
  }

  /** Of a batch that is on the disk: its rows, and those that came meanwhile. */
  done(rows: number, meanwhile: number): void {
    // Those that did not come in time are not waited for again.
    const isLoaded = rows >= this.#enough;
    this.#enough = isLoaded ? Math.max(enoughRows, Math.ceil((rows + meanwhile) * gatheredShare)) : enoughRows;
  }

  async #untilDue(rest: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.ceil(rest));
    this.#begin = resolve;
    await promise;
    clearTimeout(timer);
    this.#begin = undefined;
  }
}
