import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { replaceFile, type Effects } from '../../../kit/files/effects.ts';
import { readContent } from '../contents.ts';
import { StorageError, type ObjectStore } from '../object-store.ts';
import { contentSchema, type Content, type Pointer, type StoredPointer } from '../pointer.ts';
import { isWithin } from '../within.ts';

/** Parts of a state: blocks of the database's file, and files of the warehouse by their path in it. */
const stateContentsSchema = z.object({
  blocks: z.array(contentSchema),
  files: z.record(z.string().refine(isWithin, 'leads out of the warehouse'), contentSchema),
});
export type StateContents = z.output<typeof stateContentsSchema>;

/** The list that a pointer names as its state. Throws `StorageError`. */
export async function readStateContents(store: ObjectStore, content: Content): Promise<StateContents> {
  const text = (await readContent(store, content)).toString();
  try {
    return stateContentsSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new StorageError(`${store.url}: the list of the state cannot be used: ${(error as Error).message}`);
  }
}

/** Contents of storage when this machine last looked: its warehouse is a copy of them. */
export interface SyncState {
  url: string;
  /** Null while nothing of ours is known to be there. */
  stored: StoredPointer | null;
  /** Objects that `stored` and its snapshots name: they are not written again. */
  known: { state: StateContents; digests: string[] };
  /** A state was here before storage had any, and is in none yet: it never gives way to another machine's. */
  ownState?: true;
  /** The state here is another machine's, and no run here has published since. */
  brought?: true;
  /** A swap that was begun: if storage has this pointer now, the swap was ours. */
  begun?: { pointer: Pointer; known: SyncState['known'] };
}

/**
 * Undefined where this data directory never worked with that storage. Throws `StorageError` where the note of it is not
 * as it was written.
 */
export function readSyncState({ storageMemory }: DataDirectory, url: string): SyncState | undefined {
  let text: string;
  try {
    text = readFileSync(storageMemory, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  let memory: SyncState;
  try {
    memory = JSON.parse(text) as SyncState;
  } catch (error) {
    throw new StorageError(
      `${storageMemory}, what this machine knows of ${url}, is not as it was written (${(error as Error).message}): move it away, and the next run takes the state of storage, or says what there is to choose`,
      undefined,
      { cause: error },
    );
  }
  // An earlier version kept the slash that settings may end with.
  return memory.url.replace(/\/$/, '') === url ? { ...memory, url } : undefined;
}

export async function writeSyncState(
  { storageMemory }: DataDirectory,
  memory: SyncState,
  { files }: Effects,
): Promise<void> {
  await replaceFile(storageMemory, `${JSON.stringify(memory)}\n`, 'storage memory', files);
}

/** State to remember once a swap is done. */
export function stateAfterSwap(
  { url, stored: before, ownState, brought }: SyncState,
  stored: StoredPointer,
  known: SyncState['known'],
): SyncState {
  const { state } = stored.pointer;
  const isSame = state?.sha256 === before?.pointer.state?.sha256;
  return {
    url,
    stored,
    known,
    ...(ownState && state === null && { ownState }),
    ...(brought && isSame && { brought }),
  };
}

/** The same without contents that storage has lost: what the next publish needs of them is written again. */
export function withoutContents(memory: SyncState, lost: ReadonlySet<string>): SyncState {
  const { state, digests } = memory.known;
  const isThere = ({ sha256 }: Content) => !lost.has(sha256);
  const files = Object.fromEntries(Object.entries(state.files).filter(([, content]) => isThere(content)));
  const known = {
    state: { blocks: state.blocks.filter(isThere), files },
    digests: digests.filter((digest) => !lost.has(digest)),
  };
  return { ...memory, known };
}
