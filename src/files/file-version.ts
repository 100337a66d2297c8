import { stat } from 'node:fs/promises';

/** Another text whenever the file is another or was written to; undefined where there is none that can be looked at. */
export async function fileVersion(file: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(file, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return undefined;
  }
}
