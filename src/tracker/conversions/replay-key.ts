import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { isDiskUnwritable } from '../../kit/errors/machine-failure.ts';
import { makePrivateFolder, realEffects, replaceFile, type FileEffects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';

/** The scheme of a replay's Authorization header. */
const scheme = 'Offerline-Replay';

/**
 * Makes the key by which this tracker knows replays, new at each start: who can read the data directory may replay.
 * Where the disk takes nothing the key is in memory alone, and nobody can: `track replay` reads the key of an earlier
 * tracker, which this one answers with 401, until it is started again.
 */
export async function makeReplayKey(
  data: DataDirectory,
  log: Logger,
  files: FileEffects = realEffects.files,
): Promise<string> {
  const key = randomBytes(32).toString('hex');
  try {
    makePrivateFolder(data.tracker);
    await replaceFile(data.replayKeyFile, key, 'replay key', files, 0o600);
  } catch (error) {
    if (!isDiskUnwritable(error)) throw error;
    log.warn(
      { reason: (error as Error).message },
      'the disk takes nothing, so the key of replays could not be written: the tracker refuses `track replay` until it is started again with some room; refused reports stay where they are',
    );
  }
  return key;
}

/** Reads the key of the tracker that was started last; undefined where none ever was. */
export function readReplayKey(data: DataDirectory): string | undefined {
  try {
    return readFileSync(data.replayKeyFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function replayAuthorization(key: string): string {
  return `${scheme} ${key}`;
}

/** The key that a request claims; undefined where it is no replay. */
export function claimedReplayKey(authorization: string | undefined): string | undefined {
  return authorization?.startsWith(`${scheme} `) ? authorization.slice(scheme.length + 1) : undefined;
}
