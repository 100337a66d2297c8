import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { WarehouseBusyError } from '../../kit/errors/errors.ts';
import { replaceFile, type Effects } from '../../kit/files/effects.ts';
import { readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';

/**
 * Runs that failed and that no ledger knows of as failed: they were refused before they had a row, or ended well here
 * and were not brought to object storage.
 */
export type RefusedRuns = z.output<typeof refusedRunsSchema>;

const refusedRunsSchema = z.object({
  /** The last one, such as `run refresh`. */
  command: z.string(),
  at: z.string(),
  error: z.string(),
  /** Since a run was good last: how many, and when the first of them was. */
  times: z.number(),
  since: z.string(),
  /** Each of them found another process at work. */
  busy: z.boolean(),
});

interface Noting {
  data: DataDirectory;
  effects: Effects;
  logger: Logger;
}

/** Null where the last run was good, the ledger tells of it, or the note cannot be read. */
export function readRefusedRuns(
  { refusedRunsFile }: DataDirectory,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): RefusedRuns | null {
  return readNote(refusedRunsFile, refusedRunsSchema, onUnreadable) ?? null;
}

/** For `status`. Where it cannot be written the run fails by its own error all the same. */
export async function noteRefusedRun(
  { data, effects, logger }: Noting,
  command: string,
  cause: unknown,
): Promise<void> {
  const at = momentOfMilliseconds(effects.now());
  const busy = cause instanceof WarehouseBusyError;
  try {
    const before = readRefusedRuns(data);
    const noted: RefusedRuns = {
      command,
      at,
      error: cause instanceof Error ? cause.message : String(cause),
      times: (before?.times ?? 0) + 1,
      since: before?.since ?? at,
      busy: busy && before?.busy !== false,
    };
    await replaceFile(data.refusedRunsFile, `${JSON.stringify(noted)}\n`, 'refused runs', effects.files, 0o600);
  } catch (error) {
    logger.warn({ err: error }, 'it could not be written down that this run was refused; `status` does not know of it');
  }
}

/** A run was good, or another machine's stand here. */
export async function forgetRefusedRuns({ data, effects, logger }: Noting): Promise<void> {
  if (!existsSync(data.refusedRunsFile)) return;
  try {
    await effects.files.remove(data.refusedRunsFile, 'refused runs: forgotten');
  } catch (error) {
    logger.warn({ err: error }, 'the note of refused runs cannot be removed; `status` tells of them on');
  }
}

/** Such as "run refresh failed, 3 times since …: …". */
export function describeRefusedRuns({ command, times, since, error }: RefusedRuns): string {
  return `${command} failed${times === 1 ? ' at' : `, ${times} times since`} ${since}: ${error.split('\n')[0]}`;
}

/** One that finds another at work is as it should be: the next moment of the schedule tries again. */
export function isRefusalTrouble({ busy, times }: RefusedRuns): boolean {
  return !busy || times > 1;
}
