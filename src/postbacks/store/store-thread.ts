import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ClaimedPostback, PassUpdate } from './delivery-store.ts';

/** The updates of a pass, in a thread of their own: a commit waits for the disk, and sending does not wait with it. */
export class StoreThread {
  readonly #worker: Worker;

  /** Over the store in that file. */
  constructor(file: string) {
    this.#worker = new Worker(new URL('./store-worker.ts', import.meta.url), { workerData: file });
  }

  /** One at a time. Throws what the store throws. */
  async apply(update: PassUpdate): Promise<ClaimedPostback[][]> {
    this.#worker.postMessage(update);
    const [reply] = (await once(this.#worker, 'message')) as [ClaimedPostback[][] | Error];
    if (reply instanceof Error) throw reply;
    return reply;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
