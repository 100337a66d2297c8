import { readFileSync, rmSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { TrackerSettings } from '../kit/config/tracker-settings.ts';
import { realEffects, replaceFile } from '../kit/files/effects.ts';
import { addressText } from '../kit/http/listening-address.ts';

/** Where an operator says that the tracker listens. */
export interface GivenAddress {
  host?: string | undefined;
  port?: number | undefined;
}

/** Writes down where the tracker listens, for the service's links and for commands that ask it. */
export async function sayTrackerAddress(data: DataDirectory, address: string): Promise<void> {
  const said = `${JSON.stringify({ address })}\n`;
  await replaceFile(data.trackerAddressFile, said, 'tracker address', realEffects.files, 0o600);
}

/** Of a tracker that ends: what asks next is to take the one of the settings for it. */
export function forgetTrackerAddress({ trackerAddressFile }: DataDirectory): void {
  rmSync(trackerAddressFile, { force: true });
}

/**
 * Where the tracker of a data directory is to be asked, such as `http://127.0.0.1:8082`: as it is given, else where the
 * one that runs, or was ended by force, said that it listens, else by the settings.
 */
export function trackerAddress(
  data: DataDirectory,
  settings: Pick<TrackerSettings, 'host' | 'port'>,
  given: GivenAddress,
): string {
  const isGiven = given.host !== undefined || given.port !== undefined;
  const said = isGiven ? undefined : saidAddress(data);
  return said ?? addressText({ address: given.host ?? settings.host, port: given.port ?? settings.port });
}

/** Undefined where no tracker has said it. */
function saidAddress({ trackerAddressFile }: DataDirectory): string | undefined {
  try {
    return (JSON.parse(readFileSync(trackerAddressFile, 'utf8')) as { address: string }).address;
  } catch {
    return undefined;
  }
}
