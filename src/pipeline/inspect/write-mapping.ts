import { stat } from 'node:fs/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import { parseSettings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { replaceFile } from '../../kit/files/effects.ts';

/**
 * Adds a mapping to `offerline.json`, behind those that are there. Throws `UsageError` where the file, or what it would
 * be, is none; then it stays as it is.
 */
export async function writeMapping({ settingsFile }: DataDirectory, mapping: Record<string, unknown>): Promise<void> {
  const before = textOf(settingsFile) ?? '{}';
  parseSettings(before, settingsFile);
  const settings = JSON.parse(before) as Record<string, unknown>;
  const files = [...((settings['files'] as unknown[] | undefined) ?? []), mapping];
  const after = `${JSON.stringify({ ...settings, files }, null, 2)}\n`;
  parseSettings(after, settingsFile);
  const mode = await stat(settingsFile).then(
    (about) => about.mode & 0o777,
    () => undefined,
  );
  await replaceFile(settingsFile, after, 'settings', undefined, mode);
}

/** Undefined where there is no file yet. */
function textOf(file: string): string | undefined {
  try {
    return readTextFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
