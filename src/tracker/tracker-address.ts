import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { TrackerSettings } from '../kit/config/tracker-settings.ts';
import { isDiskUnwritable } from '../kit/errors/machine-failure.ts';
import { realEffects, replaceFile, type FileEffects } from '../kit/files/effects.ts';
import { removeIfPossible } from '../kit/files/remove-if-possible.ts';
import { addressText } from '../kit/http/listening-address.ts';
import type { Logger } from '../kit/logging/log.ts';

/** The address of a tracker as an operator gives it. */
export interface GivenAddress {
  host?: string | undefined;
  port?: number | undefined;
}

/**
 * Records where the tracker listens, for the service's links and for commands. Where the disk takes nothing it goes on
 * without: they ask at the address of the settings then, and not at one that an earlier tracker has left.
 */
export async function recordTrackerAddress(
  data: DataDirectory,
  address: string,
  log: Logger,
  files: FileEffects = realEffects.files,
): Promise<void> {
  const content = `${JSON.stringify({ address })}\n`;
  try {
    await replaceFile(data.trackerAddressFile, content, 'tracker address', files, 0o600);
  } catch (error) {
    if (!isDiskUnwritable(error)) throw error;
    removeIfPossible(data.trackerAddressFile);
    log.warn(
      { address, reason: (error as Error).message },
      "the disk takes nothing, so the tracker's address could not be recorded: until its next start commands and links use that of offerline.json",
    );
  }
}

/** Removes the address of a tracker that ends: commands then use that of the settings. */
export function forgetTrackerAddress({ trackerAddressFile }: DataDirectory, log: Logger): void {
  const error = removeIfPossible(trackerAddressFile);
  if (error !== undefined)
    log.warn(
      { reason: error.message },
      `the tracker's address could not be removed from ${trackerAddressFile}: commands ask it there until the next start; remove the file`,
    );
}

/**
 * The address of the tracker of a data directory, such as `http://127.0.0.1:8082`: the given one, else the one that the
 * last tracker recorded, else that of the settings.
 */
export function trackerAddress(
  data: DataDirectory,
  settings: Pick<TrackerSettings, 'host' | 'port'>,
  given: GivenAddress,
): string {
  const isGiven = given.host !== undefined || given.port !== undefined;
  const recorded = isGiven ? undefined : recordedAddress(data);
  return recorded ?? addressText({ address: given.host ?? settings.host, port: given.port ?? settings.port });
}

/** Undefined where no tracker has recorded one. */
function recordedAddress({ trackerAddressFile }: DataDirectory): string | undefined {
  try {
    return (JSON.parse(readFileSync(trackerAddressFile, 'utf8')) as { address: string }).address;
  } catch {
    return undefined;
  }
}
