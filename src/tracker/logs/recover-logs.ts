import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { FileEffects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { finalName, ownLogs } from './log-names.ts';

const newline = 10;
const chunkBytes = 1024 * 1024;

/**
 * Hands over to landing the files of a tracker that ended by force: each `.part` file is cut after its last whole row,
 * since the rest was never answered for, forced to the disk and renamed. A file without a whole row is removed. Call it
 * with the tracker's lock.
 */
export async function recoverLogs(
  data: DataDirectory,
  kind: EventKind,
  files: FileEffects,
  log: Logger,
): Promise<void> {
  const left = ownLogs(data, kind).filter(({ isWhole }) => !isWhole);
  for (const { path } of left) {
    const { whole, cut } = await cutTornTail(path);
    if (whole === 0) {
      await files.remove(path, `log of ${kind}: empty one removed`);
    } else {
      await files.syncFile(path, `log of ${kind}: recovered`);
      await files.rename(path, finalName(path), `log of ${kind}: recovered one renamed`);
    }
    await files.syncDirectory(dirname(path), `log of ${kind}: folder of recovered one synced`);
    const done = whole === 0 ? 'removed a log without a row' : 'handed a log to landing';
    log.info({ kind, bytes: whole, bytes_cut: cut }, `${done} that an earlier tracker left unfinished`);
  }
}

async function cutTornTail(path: string): Promise<{ whole: number; cut: number }> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const whole = await endOfLastRow(file, size);
    if (whole < size) await file.truncate(whole);
    return { whole, cut: size - whole };
  } finally {
    await file.close();
  }
}

/** The byte after the last newline before the first zero: rows have none, and a loss of power may leave some. */
async function endOfLastRow(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(chunkBytes);
  let whole = 0;
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
    const bytes = chunk.subarray(0, bytesRead);
    const zero = bytes.indexOf(0);
    const last = (zero === -1 ? bytes : bytes.subarray(0, zero)).lastIndexOf(newline);
    if (last !== -1) whole = at + last + 1;
    if (zero !== -1 || bytesRead === 0) break;
    at += bytesRead;
  }
  return whole;
}
