import { OfferlineError } from '../../kit/errors/errors.ts';
import type { QueryStore } from './query-store.ts';
import type { QueueStore } from './queue-store.ts';
import type { SyncStore } from './sync-store.ts';

/**
 * The state of every postback and each attempt. Several processes write to it at the same time: refreshes hand over
 * what the warehouse's outbox holds, passes deliver. What was committed survives everything.
 */
export interface DeliveryStore extends SyncStore, QueueStore, QueryStore {
  close(): Promise<void>;
}

/** The store is on another machine and does not answer, or refuses the login. What it holds is safe. */
export class StoreAwayError extends OfferlineError {}
