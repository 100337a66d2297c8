import type { DataDirectory } from '../../config/data-directory.ts';
import { readThrough } from '../../files/read-through.ts';
import type { EventKind } from '../../vocabulary/values.ts';
import { ownLogs } from './log-names.ts';

const newline = 10;

/**
 * Hands over every row that the tracker wrote from a day on, in the order of its files; `day` is when it was written.
 * For what a tracker has to remember over a restart. Called when no `.part` file is left.
 */
export async function readOwnRows(
  data: DataDirectory,
  kind: EventKind,
  sinceDay: string,
  see: (row: string, day: string) => void,
): Promise<void> {
  for (const { path, day } of ownLogs(data, kind, sinceDay)) {
    let rest: Buffer = Buffer.alloc(0);
    await readThrough(path, (chunk) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
        if (end > from) see(bytes.toString('utf8', from, end), day);
        from = end + 1;
      }
      // A copy: the chunk is overwritten by the next one.
      rest = Buffer.from(bytes.subarray(from));
    });
  }
}
