import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { WriteCondition, ObjectStore } from './object-store.ts';

const leaseKey = 'lease.json';
const leaseSchema = z.object({
  /** Name of the schedule, for operators: host and process. */
  holder: z.string(),
  /**
   * Another value with every renewal: others see by their own clocks whether it still changes. It begins with an id of
   * who took the lease, the same in all renewals.
   */
  beat: z.string(),
  /** Given up by itself: nobody has to wait. */
  released: z.boolean(),
});

export interface FoundLease {
  etag: string;
  /** Undefined where somebody else wrote there: then it is as good as held by them, until it is silent for too long. */
  lease: z.output<typeof leaseSchema> | undefined;
}

/** Returns the lease as it is on storage, undefined before the first schedule. Throws `StorageError`. */
export async function findLease(store: ObjectStore, signal?: AbortSignal): Promise<FoundLease | undefined> {
  const found = await store.readText(leaseKey, { signal });
  return found && { etag: found.etag, lease: readLease(found.text) };
}

/** Whether the schedule with that id took the lease, and no other since. */
export function isLeaseOf(id: string, found: FoundLease | undefined): boolean {
  return found?.lease?.beat.startsWith(id) === true;
}

/** Writes the lease for the schedule with that id; returns its ETag. Throws `LostSwapError` where `condition` fails. */
export function writeLease(
  store: ObjectStore,
  id: string,
  condition: WriteCondition,
  { released = false, signal }: { released?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  const lease: z.output<typeof leaseSchema> = {
    holder: `${hostname()}, process ${process.pid}`,
    beat: `${id} ${randomUUID()}`,
    released,
  };
  return store.writeText(leaseKey, `${JSON.stringify(lease)}\n`, condition, signal);
}

function readLease(text: string): FoundLease['lease'] {
  try {
    return leaseSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
