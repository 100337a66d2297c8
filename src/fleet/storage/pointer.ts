import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { configurationSchema } from './configuration.ts';
import { LostSwapError, ObjectStore, StorageError } from './object-store.ts';

/** Object in storage, by its content. */
export const contentSchema = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().min(0) });
export type Content = z.output<typeof contentSchema>;

/** `current.json`: what is published. It changes by compare-and-swap alone, so what it names never forks. */
const pointerSchema = z.object({
  version: z.literal(1),
  /** Another one at each swap, so that no two writers ever write the same pointer: who finds it knows whose it is. */
  swap: z.string(),
  /** One more at each swap; absent where an earlier version wrote last. */
  serial: z.int().min(1).optional(),
  /** Ids of the swaps before, newest first: they show whether this pointer follows on one that a machine has seen. */
  previous: z.array(z.string()).optional(),
  /** Grows with every writer that takes over: a swap by the one before is lost. */
  epoch: z.int().min(0),
  /** The last run that the state knows. */
  run_id: z.int().min(0),
  /** The kept snapshots, newest first. */
  snapshots: z.array(
    z.object({
      snapshot_id: z.string().regex(/^[0-9A-Za-z][\w.-]*$/),
      as_of: z.string(),
      manifest: contentSchema,
      /** Its tables have readable names, too; absent where an earlier version published it. */
      readable: z.literal(true).optional(),
    }),
  ),
  /** The pipeline's state after that run; null before the first one. */
  state: contentSchema.nullable(),
  /** What a tracker on another machine needs: the keys of click ids, and where the newest snapshot's links lead. */
  tracker: z.object({ keys: contentSchema, routes: contentSchema }).optional(),
  /** Of the machine that published; absent where an earlier version did. */
  configuration: configurationSchema.optional(),
});
export type Pointer = z.output<typeof pointerSchema>;
export type PointedSnapshot = Pointer['snapshots'][number];

/** Kept ids of earlier swaps: those of some hours. */
const maxPrevious = 50;

/** Returns the number and the ancestors of a pointer that takes the place of `before`. */
export function successionOf(before: Pointer | undefined): Pick<Pointer, 'serial' | 'previous'> {
  if (before === undefined) return { serial: 1, previous: [] };
  return {
    serial: (before.serial ?? 0) + 1,
    previous: [before.swap, ...(before.previous ?? [])].slice(0, maxPrevious),
  };
}

export interface StoredPointer {
  pointer: Pointer;
  etag: string;
}

const pointerKey = 'current.json';
export const probePrefix = 'probe-';

/** Undefined where nothing was published yet; `known` itself where that is still the one. */
export async function readPointer(store: ObjectStore, known?: StoredPointer): Promise<StoredPointer | undefined> {
  const found = await store.readText(pointerKey, { unless: known });
  if (found === undefined || 'pointer' in found) return found;
  try {
    return { pointer: pointerSchema.parse(JSON.parse(found.text)), etag: found.etag };
  } catch (error) {
    throw new StorageError(`${store.url}/${pointerKey} cannot be used: ${(error as Error).message}`, undefined, {
      cause: error,
    });
  }
}

/** Error of a machine that has seen a pointer before and finds none. */
export function lostPointer({ url }: Pick<ObjectStore, 'url'>): StorageError {
  return new StorageError(
    `${url} has no ${pointerKey} any more, which this machine has seen there: is it the right bucket and prefix? Where what lay there is lost for good, give storage.url a new prefix: the machine that wrote last publishes all that it has there`,
  );
}

/** Takes the place of the pointer that was read; of none where that is undefined. Throws `LostSwapError`. */
export async function swapPointer(
  store: ObjectStore,
  before: StoredPointer | undefined,
  pointer: Pointer,
): Promise<StoredPointer> {
  const text = `${JSON.stringify(pointer, null, 1)}\n`;
  const etag = await store.writeText(pointerKey, text, before === undefined ? 'none' : { etag: before.etag });
  return { pointer, etag };
}

/**
 * Shows that storage refuses a write whose condition does not hold: without that two writers would overwrite each
 * other. Throws `StorageError` where it does not.
 */
export async function proveConditionalWrites(store: ObjectStore): Promise<void> {
  const key = `${probePrefix}${randomUUID()}.json`;
  const isRefused = async (condition: 'none' | { etag: string }) => {
    try {
      await store.writeText(key, `"${randomUUID()}"`, condition);
      return false;
    } catch (error) {
      if (error instanceof LostSwapError) return true;
      throw error;
    }
  };
  const first = await store.writeText(key, '"1"', 'none');
  let isFit: boolean;
  try {
    await store.writeText(key, '"2"', { etag: first });
    isFit = (await isRefused({ etag: first })) && (await isRefused('none'));
  } finally {
    // A probe that stays is swept some day; the error before is the one to report.
    await store.remove(key).catch(() => undefined);
  }
  if (isFit) return;
  throw new StorageError(
    `${store.url} writes although the condition of a write does not hold (If-Match, If-None-Match): two writers would overwrite each other. Use storage with conditional writes`,
  );
}
