import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readLines } from '../../kit/files/read-lines.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { ownLogs } from './log-names.ts';

/**
 * Reads every row that the tracker wrote from a day on, the oldest file first, for what it has to remember over a
 * restart; `day` is when a row was written. Called when no `.part` file is left. A file that begins as another one is
 * the same: it was moved away, written again, and has come back.
 */
export async function readOwnRows(
  data: DataDirectory,
  kind: EventKind,
  sinceDay: string,
  see: (row: string, day: string) => void,
): Promise<void> {
  const beginnings = new Set<string>();
  for (const { path, day } of ownLogs(data, kind, sinceDay)) {
    let isFirst = true;
    let isKnown = false;
    await readLines(path, (row) => {
      if (isKnown || row === '') return;
      isKnown = isFirst && beginnings.has(row);
      if (isKnown) return;
      if (isFirst) beginnings.add(row);
      isFirst = false;
      see(row, day);
    });
  }
}
