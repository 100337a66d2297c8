import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { programFile } from '../../kit/files/package-files.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { DamagedDeliveriesError } from './delivery-database.ts';
import type { ClaimedPostback, PassUpdate } from './queue-store.ts';

type Reply = ClaimedPostback[][] | Error | { damaged: string };

/** The updates of a pass, in a thread of their own: a commit waits for the disk, and sending does not wait with it. */
export class StoreThread {
  readonly #worker: Worker;
  readonly #ended = new AbortController();

  /** Over the store in that file. */
  constructor(file: string, program: string | URL = programFile('src/postbacks/store/store-worker')) {
    this.#worker = new Worker(program, { workerData: file });
    // The first of the two is the reason.
    this.#worker.once('error', (error) => this.#ended.abort(error));
    this.#worker.once('exit', (code) =>
      this.#ended.abort(new OfferlineError(`the thread that writes deliveries ended with code ${code}`)),
    );
  }

  /** One at a time. Throws what the store throws, and an error where the thread has ended. */
  async apply(update: PassUpdate): Promise<ClaimedPostback[][]> {
    const { signal } = this.#ended;
    this.#worker.postMessage(update);
    try {
      const [reply] = (await once(this.#worker, 'message', { signal })) as [Reply];
      if (reply instanceof Error) throw reply;
      if ('damaged' in reply) throw new DamagedDeliveriesError(reply.damaged);
      return reply;
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
