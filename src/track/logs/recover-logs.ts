import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataDirectory } from '../../config/data-directory.ts';
import type { FileEffects } from '../../files/effects.ts';
import type { Logger } from '../../logging/log.ts';
import type { EventKind } from '../../vocabulary/values.ts';
import { finalName, ownLogs } from './log-names.ts';

const newline = 10;
const chunkBytes = 64 * 1024;

/**
 * Gives what a tracker left that ended by force to landing: each `.part` file is cut after its last whole row, since
 * nobody was told of the rest, forced to the disk and renamed. One without a whole row goes. Only who holds the
 * tracker's lock may call it. Gives how many files there were.
 */
export async function recoverLogs(
  data: DataDirectory,
  kind: EventKind,
  files: FileEffects,
  log: Logger,
): Promise<number> {
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
    log.info({ kind, bytes: whole, bytes_cut: cut }, 'a log that was left unfinished is handed to landing');
  }
  return left.length;
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

/** The byte after the last newline, read from the end. */
async function endOfLastRow(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(chunkBytes);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - chunkBytes);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const at = chunk.subarray(0, bytesRead).lastIndexOf(newline);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}
