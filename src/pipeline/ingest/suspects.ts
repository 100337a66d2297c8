import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { asItLies } from '../landing/lines/take-apart.ts';
import type { LandingFile } from '../landing/landing-file.ts';
import { sha256Of } from '../../kit/files/read-through.ts';
import type { Run } from '../runs/stage.ts';
import type { BrokenFile } from './logs/ingest-log.ts';
import { endedARun } from './ledger/ledger.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { replaceFile } from '../../kit/files/effects.ts';

/** What the process of a trial is to read, and where it may write what comes of it. */
export interface TrialRequest extends Pick<Run, 'settings' | 'asOf' | 'wallClock'> {
  root: string;
  files: LandingFile[];
}

/** What a run may read. */
export interface Admitted {
  files: LandingFile[];
  /** Their reading ended a process by force. */
  broken: BrokenFile[];
}

/** After so many runs in a row that ended by force, each file is tried alone, with a note of it made first. */
export const maxForcedEnds = 5;

const program = fileURLToPath(new URL('./trial-reading.ts', import.meta.url));

/**
 * Notes which files are about to be read. Where a run before ended by force while it read some of them, these are read
 * on trial first: by a process of its own, into a warehouse that is thrown away. Where an operator killed the run, all
 * of them can be read; a file that ends the process is found by halves and quarantined. Of files that can be read, but
 * not all at once, half are left to the next run.
 */
export async function admit(run: Run, files: LandingFile[]): Promise<Admitted> {
  const note = readNote(run.data);
  const suspects = files.filter((file) => note?.files.some((before) => isNoted(file, before)));
  if (note === undefined || suspects.length === 0) {
    if (files.length > 0) await writeNote(run, files, 0);
    return { files, broken: [] };
  }
  const ended = note.ended + 1;
  run.logger.warn(
    { files: suspects.length, first: suspects[0]?.path },
    'a run ended by force while it read these files: they are read by a process of its own first',
  );
  await writeNote(run, suspects, ended);
  const fatal = new Set<LandingFile>();
  const later = new Set<LandingFile>();
  const isAlone = ({ alone }: typeof note, file: LandingFile) => alone !== null && isNoted(file, alone);
  if (ended < maxForcedEnds) await sift(run, suspects, fatal, later);
  else {
    for (const file of suspects) {
      if (!isAlone(note, file)) await writeNote(run, suspects, ended, file);
      if (isAlone(note, file) || !(await survives(run, [file]))) fatal.add(file);
    }
  }
  const admitted = files.filter((file) => !fatal.has(file) && !later.has(file));
  for (const { path } of later)
    run.logger.warn({ file: path }, 'is left to the next run: it cannot be read together with the others');
  await writeNote(run, admitted, ended);
  return { files: admitted, broken: await Promise.all([...fatal].map(asBroken)) };
}

async function sift(run: Run, files: LandingFile[], fatal: Set<LandingFile>, later: Set<LandingFile>): Promise<void> {
  if (await survives(run, files)) return;
  const [only] = files;
  if (files.length === 1 && only !== undefined) {
    fatal.add(only);
    return;
  }
  const found = fatal.size;
  const half = Math.ceil(files.length / 2);
  await sift(run, files.slice(0, half), fatal, later);
  await sift(run, files.slice(half), fatal, later);
  if (fatal.size === found) for (const file of files.slice(half)) later.add(file);
}

/**
 * Whether a process that reads these files ends without being killed. Where it fails in another way, the run itself
 * will fail so and report it.
 */
async function survives({ data, settings, asOf, wallClock, effects }: Run, files: LandingFile[]): Promise<boolean> {
  await effects.files.remove(data.trial, 'files on trial: scratch emptied');
  return effects.perform('files on trial: read', async () => {
    const child = fork(program, { stdio: 'ignore', serialization: 'advanced' });
    const ended = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>;
    child.send({ root: data.trial, settings, asOf, wallClock, files } satisfies TrialRequest);
    const [, signal] = await ended;
    return signal === null;
  });
}

async function asBroken(file: LandingFile): Promise<BrokenFile> {
  return {
    file: { ...file, ...asItLies(file), sha256: await sha256Of(file.absolutePath) },
    reason: endedARun,
    detail:
      'reading it ended a run by force: land it in parts, or give the run more memory; once it is changed or touched it is read again',
  };
}

/**
 * What lies in the warehouse folder while landing files are read. Where it is left over, a run ended by force
 * meanwhile.
 */
export interface ReadingNote {
  files: NotedFile[];
  /** Runs in a row that ended by force while these were read. */
  ended: number;
  /** The one file that was being tried alone when the run itself was killed. */
  alone: NotedFile | null;
}

/** As it looked; a file that was changed since is another one. */
export interface NotedFile {
  path: string;
  bytes: number;
  modified_ns: string;
  changed_ns: string;
}

/** The note that a run left over; none where the last one came to its end. */
export function readNote({ readingNote }: DataDirectory): ReadingNote | undefined {
  try {
    return JSON.parse(readFileSync(readingNote, 'utf8')) as ReadingNote;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeNote(
  { data, effects }: Run,
  files: readonly LandingFile[],
  ended: number,
  alone: LandingFile | null = null,
): Promise<void> {
  const note: ReadingNote = { files: files.map(noted), ended, alone: alone && noted(alone) };
  await replaceFile(data.readingNote, `${JSON.stringify(note)}\n`, 'files being read', effects.files);
}

export async function removeNote({ data, effects }: Run): Promise<void> {
  await effects.files.remove(data.readingNote, 'files being read: note removed');
}

function isNoted(file: LandingFile, note: NotedFile): boolean {
  const { path, bytes, modified_ns, changed_ns } = noted(file);
  return (
    path === note.path && bytes === note.bytes && modified_ns === note.modified_ns && changed_ns === note.changed_ns
  );
}

function noted({ path, bytes, modifiedNs, changedNs }: LandingFile): NotedFile {
  return { path, bytes, modified_ns: String(modifiedNs), changed_ns: String(changedNs) };
}
