import type { DataDirectory } from '../kit/config/data-directory.ts';
import { FleetPart } from '../kit/config/fleet-part.ts';
import type { Effects } from '../kit/files/effects.ts';
import type { Progress } from '../kit/logging/progress.ts';
import type { DeliveryStore } from './store/delivery-store.ts';

/** Deliveries in PostgreSQL, which several workers deliver from. */
export interface PostgresDeliveries {
  /** Makes the tables where there are none. Throws `StoreAwayError`, and `UsageError` where the store is not in use. */
  open(address: string): Promise<DeliveryStore>;
  /** The caller holds the writer's lock and the delivery lock. */
  moveToPostgres(move: StoreMove, effects: Effects): Promise<MovedDeliveries>;
  moveToSqlite(move: StoreMove, effects: Effects): Promise<MovedDeliveries>;
  /** Reads all deliveries of a file of this machine. */
  contentsOfFile(file: string): Promise<DeliveryContents>;
}

export interface StoreMove {
  data: DataDirectory;
  /** Of PostgreSQL. */
  address: string;
  /** Counts and compares, and moves nothing. */
  dryRun: boolean;
  progress: Progress;
}

export interface DeliveryContents {
  postbacks: number;
  attempts: number;
  /** Of every cell that moves, and of what may be sent next. */
  digest: string;
}

export interface MovedDeliveries extends DeliveryContents {
  /** Null where all of them were in `to` already. */
  from: string | null;
  to: string;
}

export const postgresDeliveries = new FleetPart<PostgresDeliveries>('postbacks.store');
