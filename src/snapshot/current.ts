import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import { manifestFile, parseManifest, type Manifest } from './manifest.ts';

/** The manifest of the snapshot that `published/current` names; undefined while nothing was published or it cannot be read. */
export async function currentManifest(data: DataDirectory): Promise<Manifest | undefined> {
  try {
    const id = await readlink(data.current);
    return parseManifest(await readFile(join(data.published, id, manifestFile), 'utf8'));
  } catch {
    return undefined;
  }
}
