import { stat } from 'node:fs/promises';

/**
 * Another text whenever the file is another, was written to, or may be read by others than before; undefined where
 * there is none that can be looked at.
 */
export async function fileVersion(file: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return undefined;
  }
}

const int64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };

/**
 * Returns a file's modification time, in nanoseconds since the epoch. A program may set any moment: one before 1677 or
 * after 2262 becomes the nearest that a BIGINT holds.
 */
export function modifiedNsOf({ mtimeNs }: { mtimeNs: bigint }): bigint {
  if (mtimeNs > int64.greatest) return int64.greatest;
  return mtimeNs < int64.least ? int64.least : mtimeNs;
}
