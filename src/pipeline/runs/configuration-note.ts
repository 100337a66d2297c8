import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, replaceFile, type Effects } from '../../kit/files/effects.ts';
import { readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';

/** Configuration files that differ here from those of the machine that published last. */
const noteSchema = z.object({ url: z.string(), files: z.array(z.string()), run_id: z.int() });
type ConfigurationNote = z.output<typeof noteSchema>;

/** Returns such as "sites.json differs from …"; undefined where all agree, or nothing of that storage was noted. */
export function configurationTrouble(
  { configurationNoteFile }: DataDirectory,
  url: string | undefined,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): string | undefined {
  const note = readNote(configurationNoteFile, noteSchema, onUnreadable);
  return note?.url === url && note !== undefined ? describe(note) : undefined;
}

/** What puts it right. */
export const configurationAdvice =
  'copy the right file to all machines: this one would go on with its own after a takeover';

function describe({ url, files, run_id: run }: ConfigurationNote): string {
  const [differ, those] = files.length === 1 ? ['differs', 'that'] : ['differ', 'those'];
  return `${files.join(' and ')} here ${differ} from ${those} of the machine that published run ${run} to ${url}`;
}

/** Writes for `status` which files differ, and logs it once; without any removes the note. */
export async function noteConfiguration(
  { data, effects, logger }: { data: DataDirectory; effects: Effects; logger: Logger },
  { url, files, run_id }: ConfigurationNote,
): Promise<void> {
  const file = data.configurationNoteFile;
  if (files.length === 0) {
    if (!existsSync(file)) return;
    await effects.files.remove(file, 'configuration note: forgotten');
    logger.info({ storage: url }, 'configuration files agree with those of the machine that published last');
    return;
  }
  const before = readNote(file, noteSchema);
  if (before?.url === url && before.files.join() === files.join()) return;
  const note = { url, files, run_id };
  logger.warn({ storage: url }, `${describe(note)}: ${configurationAdvice}`);
  makePrivateFolder(data.warehouse);
  await replaceFile(file, `${JSON.stringify(note)}\n`, 'configuration note', effects.files, 0o600);
}
