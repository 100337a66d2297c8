import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { FileEffects } from '../../kit/files/effects.ts';

/**
 * Copies the closed state before the migration of that name changes it, in place of the copy of an earlier upgrade;
 * returns the copy's path. An upgrade that is tried again makes it again.
 */
export async function copyBeforeUpgrade(data: DataDirectory, migration: string, files: FileEffects): Promise<string> {
  await files.makeDirectory(data.stateCopies);
  const path = join(data.stateCopies, `before-${migration}.duckdb`);
  await files.copyFile(data.stateFile, `${path}.tmp`, 'copy before upgrade: written');
  await files.syncFile(`${path}.tmp`, 'copy before upgrade: fsynced');
  const earlier = (await readdir(data.stateCopies)).filter((name) => /^before-.*\.duckdb$/.test(name));
  await files.rename(`${path}.tmp`, path, 'copy before upgrade: renamed');
  await files.syncDirectory(dirname(path), 'copy before upgrade: folder synced');
  for (const name of earlier)
    if (join(data.stateCopies, name) !== path)
      await files.remove(join(data.stateCopies, name), 'copy before an earlier upgrade: removed');
  return path;
}
