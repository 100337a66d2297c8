import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readHolder } from '../../kit/files/process-lock.ts';
import { PictureIndex } from '../../pictures/picture-index.ts';
import { momentOfMilliseconds, type Moment } from '../../kit/time/moment.ts';

/** How the mirroring of pictures stands. */
export interface PicturesReport {
  /** Names that have a file. */
  mirrored: number;
  /** Names that could not be had the last time, with or without a file from before. */
  failing: number;
  /** When the last pass began; null where there was none. */
  last_pass_at: Moment | null;
  age_seconds: number | null;
  /** Why the last pass failed as a whole. */
  error: string | null;
  /** Its process died. */
  ended_by_force: boolean;
}

/** `now` in milliseconds since the epoch. Throws SQLite's error where the index cannot be read. */
export function readPicturesReport(data: DataDirectory, now: number): PicturesReport {
  using index = PictureIndex.existing(data);
  const { mirrored, failing } = index?.counts() ?? { mirrored: 0, failing: 0 };
  const pass = index?.lastPass();
  if (pass === undefined)
    return { mirrored, failing, last_pass_at: null, age_seconds: null, error: null, ended_by_force: false };
  const isEnded = pass.ended_at !== null || readHolder(data.pictureLockFile) !== undefined;
  return {
    mirrored,
    failing,
    last_pass_at: momentOfMilliseconds(pass.started_at),
    age_seconds: Math.max(0, Math.round((now - pass.started_at) / 1000)),
    error: isEnded ? pass.error : 'ended by force, without a word',
    ended_by_force: !isEnded,
  };
}
