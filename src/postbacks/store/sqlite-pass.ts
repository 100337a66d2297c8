import type { OpenCircuit } from '../rules/circuit-breaker.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { PassStore, PassUpdate } from './queue-store.ts';
import { StoreThread } from './store-thread.ts';

/** With fewer due, starting a thread costs more than waiting for the disk. */
const minThreadPostbacks = 1000;

/** The one pass under way: all sites are its own. */
export class SqlitePass implements PassStore {
  /** A file is never another's while the delivery lock is held. */
  readonly lost = new AbortController().signal;
  readonly isSure = true;
  readonly due: ReadonlyMap<string, number>;
  readonly #queue: DeliveryQueue;
  readonly #thread: StoreThread | undefined;
  readonly #circuits: Map<string, OpenCircuit>;

  constructor(due: ReadonlyMap<string, number>, queue: DeliveryQueue, file: string) {
    this.due = due;
    this.#queue = queue;
    this.#circuits = queue.openCircuits();
    const total = due.values().reduce((sum, each) => sum + each, 0);
    this.#thread = total < minThreadPostbacks ? undefined : new StoreThread(file);
  }

  async share(sites: number) {
    return sites;
  }
  async takeSites(siteKeys: readonly string[], limit: number) {
    return siteKeys.slice(0, limit).map((siteKey) => ({ siteKey, circuit: this.#circuits.get(siteKey) }));
  }
  async leaveSites() {}
  async apply(update: PassUpdate) {
    return this.#thread === undefined ? this.#queue.apply(update) : this.#thread.apply(update);
  }
  async end(): Promise<void> {
    await this.#thread?.close();
  }
}
