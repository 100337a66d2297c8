import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, realEffects, replaceFile } from '../../kit/files/effects.ts';

/** The scheme of a replay's Authorization header. */
const scheme = 'Offerline-Replay';

/** Makes the key by which this tracker knows replays, new at each start: who can read the data directory may replay. */
export async function makeReplayKey(data: DataDirectory): Promise<string> {
  makePrivateFolder(data.tracker);
  const key = randomBytes(32).toString('hex');
  await replaceFile(data.replayKeyFile, key, 'replay key', realEffects.files, 0o600);
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
