import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { keyOfText } from '../../kit/vocabulary/event-key.ts';
import { clickEvents, clickKeys, manifestFile, parseManifest } from '../snapshot/manifest.ts';
import { daysOf, soughtKey } from '../warehouse/keys/find-days.ts';

/** The files of a snapshot that a click is looked up in. */
export interface ClickFiles {
  /** Key runs. Absolute. */
  keys: string[];
  /** Event files, oldest day first. Absolute. None where the snapshot has no clicks. */
  events: string[];
}

export async function clickFilesOf(snapshot: string): Promise<ClickFiles> {
  const { files } = parseManifest(await readFile(join(snapshot, manifestFile), 'utf8'));
  const within = (folder: string) =>
    Object.keys(files)
      .filter((path) => path.startsWith(`${folder}/`))
      .toSorted()
      .map((path) => join(snapshot, path));
  return { keys: within(clickKeys), events: within(clickEvents) };
}

/**
 * The event files that may have a click: those of the days that the key runs have for its key. A key that two clicks
 * share by chance names a day more. All files where a key run cannot be read.
 */
export function eventFilesOfClick({ keys, events }: ClickFiles, clickId: string): string[] {
  try {
    const mayHold = daysOf(keys, soughtKey(keyOfText(clickId)));
    return events.filter((path) => mayHold(basename(path).slice(0, 'YYYY-MM-DD'.length)));
  } catch {
    return events;
  }
}
