import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readThrough } from '../../kit/files/read-through.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';
import { ownLogs } from './log-names.ts';

const newline = 10;

/**
 * Reads every row that the tracker wrote from a day on, in the order of its files, for what it has to remember over a
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
    let rest: Buffer = Buffer.alloc(0);
    let isFirst = true;
    let isKnown = false;
    await readThrough(path, (chunk) => {
      if (isKnown) return;
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
        const row = bytes.toString('utf8', from, end);
        from = end + 1;
        if (row === '') continue;
        if (isFirst && beginnings.has(row)) {
          isKnown = true;
          return;
        }
        if (isFirst) beginnings.add(row);
        isFirst = false;
        see(row, day);
      }
      // A copy: the chunk is overwritten by the next one.
      rest = Buffer.from(bytes.subarray(from));
    });
  }
}
