import { fork, type ChildProcess } from 'node:child_process';
import { programFile } from '../../kit/files/package-files.ts';
import { asLines } from '../landing/lines/to-ndjson.ts';
import type { LandingFile } from '../landing/landing-file.ts';
import { sha256Of } from '../../kit/files/read-through.ts';
import type { Run } from '../runs/stage.ts';
import type { BrokenFile } from './logs/ingest-log.ts';
import { endedARun } from './ledger/ledger.ts';
import { isNoted, readReadingNote, writeReadingNote, type ReadingNote } from './reading-note.ts';

/** A message to the trial process: a file to read, and the folder of a warehouse that is thrown away. */
export interface TrialOrder extends Pick<Run, 'settings' | 'asOf' | 'wallClock'> {
  root: string;
  file: LandingFile;
}

/** The files that a run may read. */
export interface Admitted {
  files: LandingFile[];
  /** Files whose reading ended a process by force. */
  broken: BrokenFile[];
}

/**
 * Forced ends in a row from which each file is noted before it is tried, and files that can be read one by one are no
 * longer read together.
 */
export const maxForcedEnds = 5;

/**
 * Notes which files are about to be read. Where a run before ended by force while it read some of them, these are tried
 * first, one after the other, by a process of its own: the file that is open when that process dies is quarantined.
 * Where an operator killed the run, all of them can be read.
 */
export async function admit(run: Run, files: LandingFile[]): Promise<Admitted> {
  const note = readReadingNote(run.data);
  const suspects = note === undefined ? [] : suspectsIn(files, note);
  return note === undefined || suspects.length === 0
    ? admitAll(run, files)
    : admitAfterForcedEnd(run, files, suspects, note);
}

/** Files that look as they did when the noted run was about to read them. */
function suspectsIn(files: readonly LandingFile[], note: ReadingNote): LandingFile[] {
  const noted = new Map(note.files.map((file) => [file.path, file]));
  return files.filter((file) => isNoted(file, noted.get(file.path)));
}

async function admitAll(run: Run, files: LandingFile[]): Promise<Admitted> {
  if (files.length > 0) await writeReadingNote(run, files, 0);
  return { files, broken: [] };
}

async function admitAfterForcedEnd(
  run: Run,
  files: readonly LandingFile[],
  suspects: readonly LandingFile[],
  note: ReadingNote,
): Promise<Admitted> {
  const forcedEnds = note.ended + 1;
  run.logger.warn(
    { files: suspects.length, first: suspects[0]?.path },
    'a run ended by force while it read these files: each is tried by a process of its own first',
  );
  await writeReadingNote(run, suspects, forcedEnds);
  // The process that tried it died, and the run with it.
  const isKnownKiller = (file: LandingFile) => isNoted(file, note.alone);
  const hasEndedOften = forcedEnds >= maxForcedEnds;
  const foundKillers = await killersAmong(
    run,
    suspects.filter((file) => !isKnownKiller(file)),
    async (file) => {
      if (hasEndedOften) await writeReadingNote(run, suspects, forcedEnds, file);
    },
  );
  const killers = new Set([...suspects.filter(isKnownKiller), ...foundKillers]);
  const readable = files.filter((file) => !killers.has(file));
  const killsTogether = hasEndedOften && killers.size === 0;
  const admitted = killsTogether ? readable.slice(0, 1) : readable;
  if (killsTogether)
    run.logger.warn(
      { file: admitted[0]?.path, left: readable.length - admitted.length },
      'these files can be read one by one but not together: the others are left to the next runs',
    );
  await writeReadingNote(run, admitted, forcedEnds);
  return { files: admitted, broken: await Promise.all([...killers].map(asBroken)) };
}

const program = programFile('src/pipeline/ingest/trial-process');

/** Returns the files whose reading kills the process that reads them. */
async function killersAmong(
  { data, settings, asOf, wallClock, effects }: Run,
  files: readonly LandingFile[],
  beforeEach: (file: LandingFile) => Promise<void>,
): Promise<LandingFile[]> {
  const killers: LandingFile[] = [];
  let child: ChildProcess | undefined;
  try {
    for (const file of files) {
      await beforeEach(file);
      if (child === undefined) {
        await effects.files.remove(data.trial, 'files on trial: scratch emptied');
        child = fork(program, { stdio: 'ignore', serialization: 'advanced' });
      }
      const reading = outcomeOf(child);
      child.send({ root: data.trial, settings, asOf, wallClock, file } satisfies TrialOrder);
      const outcome = await effects.perform('files on trial: read', () => reading);
      if (outcome === 'killed') killers.push(file);
      if (outcome !== 'read') child = undefined;
    }
  } finally {
    child?.kill('SIGKILL');
  }
  return killers;
}

/** `exited`: not by force, so the run itself will fail in the same way and report it. */
function outcomeOf(child: ChildProcess): Promise<'read' | 'exited' | 'killed'> {
  const { promise, resolve, reject } = Promise.withResolvers<'read' | 'exited' | 'killed'>();
  child.once('message', () => resolve('read'));
  child.once('exit', (_code, signal) => resolve(signal === null ? 'exited' : 'killed'));
  child.once('error', reject);
  return promise.finally(() => child.removeAllListeners());
}

async function asBroken(file: LandingFile): Promise<BrokenFile> {
  return {
    file: { ...file, ...asLines(file), sha256: await sha256Of(file.absolutePath) },
    reason: endedARun,
    detail:
      'reading it ended a run by force: land it in parts, or give the run more memory; once it is changed or touched it is read again',
  };
}
