import { existsSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { UsageError } from '../../kit/errors/errors.ts';
import { isShared } from '../../postbacks/open-store.ts';
import { placeOfFiles, type SyncStore } from '../../postbacks/store/sync-store.ts';
import { readMetadata, writeMetadata } from '../warehouse/metadata.ts';
import type { Run } from '../runs/stage.ts';

const storeKey = 'delivery_store';

/** The delivery store that the warehouse handed its postbacks to; without keys before the first one. */
export interface KnownStore {
  storeId?: string;
  /** Last change that was read of it. */
  upTo?: number;
  /** See `SyncStore`; undefined after `postbacks move --lost`, and in a warehouse of an earlier version. */
  place?: string;
}

export async function readKnownStore(connection: DuckDBConnection): Promise<KnownStore> {
  return JSON.parse((await readMetadata(connection, storeKey)) ?? '{}') as KnownStore;
}

export function writeKnownStore(
  connection: DuckDBConnection,
  { storeId, place }: Pick<SyncStore, 'storeId' | 'place'>,
  upTo: number,
): Promise<void> {
  return write(connection, { storeId, place, upTo });
}

/** Makes the next sync read all changes of the known store again. */
export async function rereadKnownStore(connection: DuckDBConnection): Promise<void> {
  const known = await readKnownStore(connection);
  if (known.storeId !== undefined) await write(connection, { ...known, upTo: 0 });
}

/** Lets the next sync fill whatever store the settings name from the warehouse: the known one is lost. */
export async function giveUpKnownStore(connection: DuckDBConnection): Promise<void> {
  const { place: _lost, ...known } = await readKnownStore(connection);
  await write(connection, known);
}

function write(connection: DuckDBConnection, known: KnownStore): Promise<void> {
  return writeMetadata(connection, storeKey, JSON.stringify(known));
}

/** Throws `UsageError`, before a file is made, where deliveries are in PostgreSQL and settings name none. */
export function assertStoreHere({ place }: KnownStore, { data, settings }: Pick<Run, 'data' | 'settings'>): void {
  if (!isShared(settings) && !existsSync(data.deliveriesFile)) assertSamePlace(place, placeOfFiles);
}

/**
 * Throws `UsageError` where the store has another id and another place than the known one: both would send the same
 * postbacks. After `postbacks move` the id is the same.
 */
export function assertSameStore({ storeId, place }: KnownStore, store: SyncStore): void {
  if (storeId !== store.storeId) assertSamePlace(place, store.place);
}

function assertSamePlace(known: string | undefined, named: string): void {
  if (known === undefined || known === named) return;
  const [target, cure] =
    named === placeOfFiles
      ? [
          'sqlite',
          'write its address into postbacks.store again, call `offerline postbacks move --to sqlite`, then take it out',
        ]
      : known === placeOfFiles
        ? [
            'postgres',
            'call `offerline postbacks move --to postgres` on the machine that has postbacks/deliveries.sqlite',
          ]
        : [
            'postgres',
            'name the first in postbacks.store and call `offerline postbacks move --to sqlite`, then name the second and call `offerline postbacks move --to postgres`',
          ];
  throw new UsageError(
    `postbacks were handed to ${known}, and offerline.json now leads to another store, ${named}: ${cure}. Where ${known} is lost for good, \`offerline postbacks move --to ${target} --lost\` goes on with what the warehouse knows of them`,
  );
}
