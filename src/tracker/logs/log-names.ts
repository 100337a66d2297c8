import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';

const dayMilliseconds = 86_400_000;
/** Ending of a file that is still being written; landing ignores it. */
const partEnding = '.part';
const wholeEnding = '.ndjson';

/** The tracker's own folder of a kind's logs, with a folder for each UTC day. */
export function trackerLogs(data: DataDirectory, kind: EventKind): string {
  return join(data.landing, kind, 'tracker');
}

/** Days since 1970, UTC. */
export function dayNumberOf(milliseconds: number): number {
  return Math.floor(milliseconds / dayMilliseconds);
}

/** Such as `2026-11-22`. */
export function dayText(dayNumber: number): string {
  return new Date(dayNumber * dayMilliseconds).toISOString().slice(0, 10);
}

/** A file of the tracker's logs. */
export interface OwnLog {
  path: string;
  /** The day of its folder, on which its rows were written, by the tracker's clock. */
  day: string;
  /** True once it has its final name. */
  isWhole: boolean;
  /** The time at which it began, by its name; 0 for a foreign name. Milliseconds since the epoch. */
  began: number;
}

/**
 * The tracker's logs of a kind from a day on, the oldest first: by their days, and within a day by when they began,
 * since their names begin with the process's own id, which is random.
 */
export function ownLogs(data: DataDirectory, kind: EventKind, sinceDay = ''): OwnLog[] {
  const root = trackerLogs(data, kind);
  return namesIn(root)
    .filter((day) => /^\d{4}-\d\d-\d\d$/.test(day) && day >= sinceDay)
    .flatMap((day) =>
      namesIn(join(root, day))
        .filter((name) => name.endsWith(wholeEnding) || name.endsWith(wholeEnding + partEnding))
        .map((name) => ({
          path: join(root, day, name),
          day,
          isWhole: name.endsWith(wholeEnding),
          began: beganAt(name),
        }))
        .toSorted((one, other) => one.began - other.began),
    );
}

/** The name of a log that begins now. `instance` is the process's own, `sequence` counts its logs. */
export function newLogName(instance: string, now: number, sequence: number): string {
  return `${instance}-${now}-${String(sequence).padStart(6, '0')}${wholeEnding}${partEnding}`;
}

function beganAt(name: string): number {
  return Number(/-(\d+)-\d+\.ndjson(?:\.part)?$/.exec(name)?.[1] ?? 0);
}

/** The name of a log that nothing more comes to. */
export function finalName(part: string): string {
  return part.slice(0, -partEnding.length);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
