import type { AttemptRecord, DeliveryState, OutboxRow } from './delivery-rows.ts';

/** Place of a store in a file: each machine has its own, and a new one is filled from the warehouse. */
export const placeOfFiles = 'SQLite';

/** Exchange with the warehouse: postbacks that its outbox holds come in, states and attempts go out. */
export interface SyncStore {
  /** Random id of the store: another id means that the store is a new one. */
  readonly storeId: string;
  /** Names the place without secrets, such as "PostgreSQL at host/database"; `placeOfFiles` for any machine's file. */
  readonly place: string;

  /** Returns the greatest number imported from that warehouse's outbox; 0 when none. */
  importedUpTo(warehouseId: string): Promise<number>;
  /** Imports rows of the outbox, all or none; those that are here already stay as they are. */
  importOutbox(warehouseId: string, rows: Iterable<OutboxRow>): Promise<OutboxImport>;
  /**
   * Brings a store that was lost back from what the warehouse last saw of it. What was delivered is not sent again;
   * what was tried since is. Those that are here already stay as they are. Returns how many were new.
   */
  restore(states: Iterable<DeliveryState>): Promise<number>;
  /** Returns what changed after a change, at most `limit` rows of each kind. Call it again until `upTo` stays. */
  changesSince(change: number, limit?: number): Promise<DeliveryChanges>;
}

export interface DeliveryChanges {
  postbacks: DeliveryState[];
  attempts: AttemptRecord[];
  /**
   * Position at which the next call goes on; what was asked for itself when nothing has changed since, and less where
   * the store is an older copy of itself, come back from a backup or a replica.
   */
  upTo: number;
}

export interface OutboxImport {
  /** Postbacks that were not here yet. */
  added: number;
  /** The store's last change before the import and after it; between them are imported rows only. */
  changes: { before: number; after: number };
}
