import type { StorageSettings } from '../../kit/config/storage-settings.ts';
import { ObjectStore } from './object-store.ts';
import { readPointer } from './pointer.ts';
import { catalogKey, catalogNote, readablePlace } from './readable-names.ts';

export interface StoredCatalog {
  /** Statement by which DuckDB with `ducklake` and `httpfs` opens what storage has. */
  attach: string;
  /** Kept snapshots that it shows, newest first; as the pointer names them. */
  snapshots: string[];
  /** The catalog shows these and no others: the next run writes one that does not. */
  is_current: boolean;
}

/** Compares the catalog that analysts open with the pointer. Throws `StorageError`, `UsageError` as `open` does. */
export async function examineCatalog(settings: StorageSettings): Promise<StoredCatalog> {
  const store = await ObjectStore.open(settings);
  try {
    const found = await store.head(catalogKey);
    const snapshots = (await readPointer(store))?.pointer.snapshots ?? [];
    return {
      attach: `ATTACH 'ducklake:${readablePlace(store)}offerline.ducklake' AS lake (READ_ONLY)`,
      snapshots: snapshots.filter(({ readable }) => readable).map(({ snapshot_id }) => snapshot_id),
      is_current: found !== undefined && found.note === catalogNote(snapshots),
    };
  } finally {
    store[Symbol.dispose]();
  }
}
