import { createHash } from 'node:crypto';
import type { DataDirectory } from '../config/data-directory.ts';
import { readableSecrets, Redactor } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import { UsageError } from '../errors/errors.ts';
import type { Site } from '../sites/sites.ts';
import { readSources, type SourceEntry } from '../sources/config/sources-file.ts';

export interface KnownSecrets {
  redactor: Redactor;
  /** Equal where they are the same ones. */
  digest: string;
}

/**
 * The secrets of all that is configured here: what has one of them in it may be a copy of the configuration, landed by
 * mistake. One that cannot be read, and a `sources.json` that cannot be used, are told by those who need them; what
 * they hold is taken out once they can.
 */
export function knownSecrets(data: DataDirectory, settings: Settings, sites: readonly Site[]): KnownSecrets {
  const { postbacks, limits, storage } = settings;
  const addresses = readableSecrets([postbacks.store, limits?.redis]);
  const secrets = [
    ...sites.flatMap(({ site_secret, previous_site_secret = '' }) => [site_secret, previous_site_secret]),
    ...addresses,
    ...addresses.flatMap(passwords),
    ...readableSecrets([storage?.access_key_id, storage?.secret_access_key, storage?.session_token]),
    ...sourcesOf(data).flatMap(({ secrets: own, postback }) =>
      readableSecrets([...Object.values(own), ...(postback?.token ?? []), ...(postback?.signature?.secret ?? [])]),
    ),
  ];
  const known = [...new Set(secrets)].toSorted();
  return {
    redactor: new Redactor(known),
    digest: createHash('sha256').update(JSON.stringify(known)).digest('hex'),
  };
}

function sourcesOf(data: DataDirectory): readonly SourceEntry[] {
  try {
    return readSources(data).sources;
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** Of an address such as `redis://user:password@host`, as it stands there and decoded. */
function passwords(address: string): string[] {
  const { password } = URL.canParse(address) ? new URL(address) : { password: '' };
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
