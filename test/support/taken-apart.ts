import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileProblem } from '../../src/kit/intake/reading/record-sink.ts';
import { LineFile } from '../../src/pipeline/landing/lines/line-file.ts';

/** What takes a text apart into lines, chunk by chunk. */
interface Taker {
  take(chunk: Buffer): void;
  finish(): FileProblem | undefined;
}

/**
 * Hands a text over in chunks of so many bytes. Gives the lines that were made of it, or the reason why there are none.
 */
export function takenApart<T extends Taker>(
  make: (lines: LineFile) => T,
  text: string | Uint8Array,
  chunkBytes = Infinity,
): { lines: string[]; reason: string | undefined; taker: T } {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-lines-'));
  const file = new LineFile(join(folder, 'lines'));
  try {
    const taker = make(file);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += chunkBytes) taker.take(Buffer.from(bytes.subarray(at, at + chunkBytes)));
    const reason = taker.finish()?.reason;
    file.finish();
    return { lines: readFileSync(file.path, 'utf8').split('\n').slice(0, -1), reason, taker };
  } finally {
    file.close();
    rmSync(folder, { recursive: true });
  }
}
