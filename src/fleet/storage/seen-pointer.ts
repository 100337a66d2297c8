import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, replaceFile, type Effects } from '../../kit/files/effects.ts';
import { readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import { StorageError } from './object-store.ts';
import type { Pointer, StoredPointer } from './pointer.ts';

/** Last pointer of a storage that this machine followed or wrote, or that the operator accepted for it. */
type SeenPointer = z.output<typeof seenSchema>;
const seenSchema = z.object({ url: z.string(), serial: z.int(), swap: z.string(), run_id: z.int() });

/** Storage has another pointer than the one that this machine has seen there, or one that follows on it. */
export class ForkedPointerError extends StorageError {}

/**
 * Returns what this machine has seen, where the pointer of storage does not follow on it: the bucket was restored from
 * an older copy, and others may have gone on from there. A pointer of an earlier version has no serial and is believed.
 */
export function seenOfAnotherLine(
  data: DataDirectory,
  url: string,
  { serial, swap, previous }: Pointer,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): SeenPointer | undefined {
  const seen = readNote(data.seenPointerFile, seenSchema, onUnreadable);
  // An earlier version kept the slash that settings may end with.
  if (seen?.url.replace(/\/$/, '') !== url || serial === undefined) return undefined;
  const ahead = serial - seen.serial;
  const then = ahead === 0 ? swap : previous?.[ahead - 1];
  return ahead < 0 || (then !== undefined && then !== seen.swap) ? seen : undefined;
}

/** Throws `ForkedPointerError` where the pointer does not follow on what this machine has seen, or may not. */
export function assertFollowsOnSeen(data: DataDirectory, url: string, { pointer }: StoredPointer): void {
  const seen = seenOfAnotherLine(data, url, pointer, ({ file }) => {
    throw new ForkedPointerError(
      `${file} cannot be read, so nothing shows whether ${url} has gone back; where it has not, remove that file: what is there now, ${describePointer(pointer)}, counts as seen then`,
    );
  });
  if (seen === undefined) return;
  throw new ForkedPointerError(
    `${url} has gone back: ${describePointer(pointer)} is there, and this machine has seen ${describePointer(seen)}, which it does not follow on. Was an older copy of the bucket restored? Put the newer one back; or give storage.url a new prefix, where the machine that wrote last publishes all that it has; or \`offerline storage accept\`, on each machine, goes on from what is there and discards what came after it`,
  );
}

export function describePointer({ run_id, swap }: Pick<Pointer, 'run_id' | 'swap'>): string {
  return `run ${run_id} (swap ${swap})`;
}

/** Remembers the pointer as seen. One of an earlier version has no serial, and is not. */
export async function rememberSeen(
  data: DataDirectory,
  url: string,
  { serial, swap, run_id }: Pointer,
  { files }: Effects,
): Promise<void> {
  if (serial === undefined) return;
  const seen: SeenPointer = { url, serial, swap, run_id };
  const before = readNote(data.seenPointerFile, seenSchema);
  if (before?.url === url && before.swap === swap) return;
  makePrivateFolder(data.warehouse);
  await replaceFile(data.seenPointerFile, `${JSON.stringify(seen)}\n`, 'seen pointer', files, 0o600);
}
