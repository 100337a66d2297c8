import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { parseSettings, readSettingsText } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { rewriteFile } from '../../kit/files/effects.ts';
import { takenOver } from './file-glob.ts';

/**
 * Adds a mapping to `offerline.json`, behind those that are there. Throws `UsageError` where the file, or what it would
 * be, is none, or where the mapping would read files that are in our own fields; then it stays as it is.
 *
 * @param file Path in the landing folder of the file that the mapping is made for, if it is there.
 */
export async function writeMapping(
  data: DataDirectory,
  mapping: Record<string, unknown>,
  file?: string,
): Promise<void> {
  const { settingsFile } = data;
  const before = readSettingsText(data) ?? '{}';
  const { files: known } = parseSettings(before, settingsFile);
  const settings = JSON.parse(before) as Record<string, unknown>;
  const files = [...((settings['files'] as unknown[] | undefined) ?? []), mapping];
  const after = `${JSON.stringify({ ...settings, files }, null, 2)}\n`;
  const match = parseSettings(after, settingsFile).files.at(-1)?.match ?? '';
  const taken = await takenOver(data, known, match, file);
  if (taken !== undefined)
    throw new UsageError(
      `nothing is written: ${match} is for ${taken}, too, which is read in our own fields. Say by --match which files the mapping is for, such as ${match.split('/', 1)[0]}/partner/**, or copy the mapping into "files" of offerline.json`,
    );
  await rewriteFile(settingsFile, after, 'settings');
}
