import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { WarehouseBusyError } from '../../kit/errors/errors.ts';
import { replaceFile, type Effects } from '../../kit/files/effects.ts';
import { readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { headline } from '../../kit/text/headline.ts';

/**
 * Failed runs that no ledger has as failed: refused before they had a row, or done here but not published to object
 * storage.
 */
export type RefusedRuns = z.output<typeof refusedRunsSchema>;

const refusedRunsSchema = z.object({
  /** Command of the last one, such as `run refresh`. */
  command: z.string(),
  at: z.string(),
  error: z.string(),
  /** Number since the last good run, and the time of the first. */
  times: z.number(),
  since: z.string(),
  /** True where each of them found another process holding the warehouse. */
  busy: z.boolean(),
});

interface Noting {
  data: DataDirectory;
  effects: Effects;
  logger: Logger;
}

const maintenance = 'maintenance';

/** Returns whether a good run of a pipeline makes up for a failed one: a refresh does, but not for maintenance. */
export function putsRight(pipeline: string, failed: string): boolean {
  return pipeline === failed || (pipeline === 'refresh' && failed !== maintenance);
}

/** Maintenance has a note of its own, since no other run makes up for it. */
function noteFileOf({ refusedMaintenanceFile, refusedRunsFile }: DataDirectory, pipeline: string): string {
  return pipeline === maintenance ? refusedMaintenanceFile : refusedRunsFile;
}

/**
 * Returns the note that a pipeline's refused runs are in. Null where the last run was good or is in the ledger, or the
 * note cannot be read.
 */
export function readRefusedRunsOf(
  pipeline: string,
  data: DataDirectory,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): RefusedRuns | null {
  return readNote(noteFileOf(data, pipeline), refusedRunsSchema, onUnreadable) ?? null;
}

/** The note of all pipelines but maintenance. */
export function readRefusedRuns(
  data: DataDirectory,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): RefusedRuns | null {
  return readRefusedRunsOf('refresh', data, onUnreadable);
}

/** The note of maintenance. */
export function readRefusedMaintenance(
  data: DataDirectory,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): RefusedRuns | null {
  return readRefusedRunsOf(maintenance, data, onUnreadable);
}

/** The pipeline of a refused run. */
export function refusedPipeline({ command }: Pick<RefusedRuns, 'command'>): string {
  return command.replace(/^run /, '');
}

/** Records a refused run for `status`. Where the note cannot be written the run still fails by its own error. */
export async function noteRefusedRun(
  { data, effects, logger }: Noting,
  command: string,
  cause: unknown,
): Promise<void> {
  const at = momentOfMilliseconds(effects.now());
  const busy = cause instanceof WarehouseBusyError;
  const pipeline = refusedPipeline({ command });
  try {
    const before = readRefusedRunsOf(pipeline, data);
    const noted: RefusedRuns = {
      command,
      at,
      error: cause instanceof Error ? cause.message : String(cause),
      times: (before?.times ?? 0) + 1,
      since: before?.since ?? at,
      busy: busy && before?.busy !== false,
    };
    const file = noteFileOf(data, pipeline);
    await replaceFile(file, `${JSON.stringify(noted)}\n`, 'refused runs', effects.files, 0o600);
  } catch (error) {
    logger.warn(
      { err: error },
      'the note of this refused run could not be written; `offerline status` does not show it',
    );
  }
}

/** Removes the notes of what a good run of this pipeline makes up for; without one, all: the state is another now. */
export async function forgetRefusedRuns({ data, effects, logger }: Noting, pipeline?: string): Promise<void> {
  for (const noted of ['refresh', maintenance]) {
    const file = noteFileOf(data, noted);
    const refused = readRefusedRunsOf(noted, data);
    const isRight = pipeline === undefined || refused === null || putsRight(pipeline, refusedPipeline(refused));
    if (!isRight || !existsSync(file)) continue;
    try {
      await effects.files.remove(file, 'refused runs: forgotten');
    } catch (error) {
      logger.warn(
        { err: error },
        'the note of refused runs cannot be removed; `offerline status` goes on showing them',
      );
    }
  }
}

/** Returns such as "run refresh failed, 3 times since …: …". */
export function describeRefusedRuns({ command, times, since, error }: RefusedRuns): string {
  return `${command} failed${times === 1 ? ' at' : `, ${times} times since`} ${since}: ${headline(error)}`;
}

/** Leaves out a single run that found another at work: the next moment of the schedule tries again. */
export function refusalTroubles(notes: readonly (RefusedRuns | null)[]): RefusedRuns[] {
  return notes.filter((runs) => runs !== null && (!runs.busy || runs.times > 1)) as RefusedRuns[];
}
