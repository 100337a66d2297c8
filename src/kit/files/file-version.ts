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
