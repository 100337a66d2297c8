import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { StorageSettings } from '../../kit/config/storage-settings.ts';
import type { Effects } from '../../kit/files/effects.ts';
import { ObjectStore } from './object-store.ts';
import { lostPointer, readPointer } from './pointer.ts';
import { describePointer, rememberSeen, seenOfAnotherLine } from './seen-pointer.ts';

export interface AcceptedPointer {
  url: string;
  /** Pointer of storage now, such as "run 2 (swap …)". */
  accepted: string;
  /** Newer pointer that this machine had seen; null where that of storage follows on it. */
  in_place_of: string | null;
}

/**
 * Lets this machine go on from what storage has, although it has seen something newer there. Running processes find it
 * at their next look. Throws `StorageError` where storage has no pointer or cannot be read.
 */
export async function acceptPointer(
  data: DataDirectory,
  settings: StorageSettings,
  effects: Effects,
): Promise<AcceptedPointer> {
  const store = await ObjectStore.open(settings);
  try {
    const stored = await readPointer(store);
    if (stored === undefined) throw lostPointer(store);
    const { pointer } = stored;
    const seen = seenOfAnotherLine(data, store.url, pointer);
    if (seen !== undefined) await rememberSeen(data, store.url, pointer, effects);
    return {
      url: store.url,
      accepted: describePointer(pointer),
      in_place_of: seen === undefined ? null : describePointer(seen),
    };
  } finally {
    store[Symbol.dispose]();
  }
}
