import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { parseSettings, readSettingsText } from '../../kit/config/settings.ts';
import { rewriteFile } from '../../kit/files/effects.ts';

/**
 * Adds a mapping to `offerline.json`, behind those that are there. Throws `UsageError` where the file, or what it would
 * be, is none; then it stays as it is.
 */
export async function writeMapping(data: DataDirectory, mapping: Record<string, unknown>): Promise<void> {
  const { settingsFile } = data;
  const before = readSettingsText(data) ?? '{}';
  parseSettings(before, settingsFile);
  const settings = JSON.parse(before) as Record<string, unknown>;
  const files = [...((settings['files'] as unknown[] | undefined) ?? []), mapping];
  const after = `${JSON.stringify({ ...settings, files }, null, 2)}\n`;
  parseSettings(after, settingsFile);
  await rewriteFile(settingsFile, after, 'settings');
}
