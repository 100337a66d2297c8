import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readLockHolder } from '../../kit/files/process-lock.ts';
import { PictureIndex } from '../../pictures/picture-index.ts';
import { momentOfMilliseconds, type Moment } from '../../kit/time/moment.ts';

/** State of the mirrored pictures. */
export interface PicturesReport {
  /** Names that have a file. */
  mirrored: number;
  /** Names whose last request failed, with or without an older file. */
  failing: number;
  /** Begin of the last pass; null without one. */
  last_pass_at: Moment | null;
  age_seconds: number | null;
  /** Error that ended the last pass. */
  error: string | null;
  /** The process of the last pass died. */
  ended_by_force: boolean;
}

/** Reads the index. `now` in milliseconds since the epoch. Throws SQLite's error where it cannot be read. */
export function readPicturesReport(data: DataDirectory, now: number): PicturesReport {
  using index = PictureIndex.existing(data);
  const { mirrored, failing } = index?.counts() ?? { mirrored: 0, failing: 0 };
  const pass = index?.lastPass();
  if (pass === undefined)
    return { mirrored, failing, last_pass_at: null, age_seconds: null, error: null, ended_by_force: false };
  const isEnded = pass.ended_at !== null || readLockHolder(data.pictureLockFile) !== undefined;
  return {
    mirrored,
    failing,
    last_pass_at: momentOfMilliseconds(pass.started_at),
    age_seconds: Math.max(0, Math.round((now - pass.started_at) / 1000)),
    error: isEnded ? pass.error : 'ended by force, without a word',
    ended_by_force: !isEnded,
  };
}
