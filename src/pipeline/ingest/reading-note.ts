import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { replaceFile } from '../../kit/files/effects.ts';
import type { LandingFile } from '../landing/landing-file.ts';
import type { Run } from '../runs/stage.ts';

/**
 * A file of the warehouse folder that is there while landing files are read. Where it is left over, a run ended by
 * force meanwhile.
 */
export interface ReadingNote {
  files: NotedFile[];
  /** Runs in a row that ended by force while these were read. */
  ended: number;
  /** The file that is being tried, where nobody may be left to see how that ends. */
  alone: NotedFile | null;
}

/** A landing file as it looked; one that was changed since is another one. */
export interface NotedFile {
  path: string;
  bytes: number;
  modified_ns: string;
  changed_ns: string;
}

/** The note that a run left over; none where the last one came to its end. */
export function readReadingNote({ readingNote }: DataDirectory): ReadingNote | undefined {
  try {
    return JSON.parse(readFileSync(readingNote, 'utf8')) as ReadingNote;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function writeReadingNote(
  { data, effects }: Run,
  files: readonly LandingFile[],
  forcedEnds: number,
  onTrial: LandingFile | null = null,
): Promise<void> {
  const note: ReadingNote = { files: files.map(noted), ended: forcedEnds, alone: onTrial && noted(onTrial) };
  await replaceFile(data.readingNote, `${JSON.stringify(note)}\n`, 'files being read', effects.files);
}

export async function removeReadingNote({ data, effects }: Run): Promise<void> {
  await effects.files.remove(data.readingNote, 'files being read: note removed');
}

export function isNoted(file: LandingFile, note: NotedFile | null | undefined): boolean {
  if (note === null || note === undefined) return false;
  const { path, bytes, modified_ns, changed_ns } = noted(file);
  return (
    path === note.path && bytes === note.bytes && modified_ns === note.modified_ns && changed_ns === note.changed_ns
  );
}

function noted({ path, bytes, modifiedNs, changedNs }: LandingFile): NotedFile {
  return { path, bytes, modified_ns: String(modifiedNs), changed_ns: String(changedNs) };
}
