import { createHash } from 'node:crypto';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readableSecrets, Redactor } from '../../kit/config/secrets.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import type { Site } from '../../kit/sites/sites.ts';
import { readSources, type SourceEntry } from '../../sources/config/sources-file.ts';
import { macrosIn, withPlainAmpersands } from '../../kit/text/macros.ts';

export interface KnownSecrets {
  redactor: Redactor;
  /** Digests of the secrets, sorted, each once. */
  digests: string[];
}

/**
 * The secrets of all that is configured here: what has one of them in it may be a copy of the configuration, landed by
 * mistake. One that cannot be read, and a `sources.json` that cannot be used, are reported by those who need them; what
 * they hold is taken out once they can.
 */
export function knownSecrets(data: DataDirectory, settings: Settings, sites: readonly Site[]): KnownSecrets {
  const { postbacks, limits, storage, tracker } = settings;
  const addresses = readableSecrets([postbacks.store, limits?.redis]);
  const secrets = [
    ...sites.flatMap(({ site_secret, previous_site_secret = '', postback, fallback_url = '' }) => [
      site_secret,
      previous_site_secret,
      ...secretsOfPostback(postback?.url),
      ...secretsOfUser(fallback_url),
    ]),
    ...addresses,
    ...[...addresses, tracker.fallback_url, storage?.endpoint].flatMap(secretsOfUser),
    ...readableSecrets([storage?.access_key_id, storage?.secret_access_key, storage?.session_token]),
    ...sourcesOf(data).flatMap(({ secrets: own, postback }) =>
      readableSecrets([...Object.values(own), ...(postback?.token ?? []), ...(postback?.signature?.secret ?? [])]),
    ),
  ];
  const known = [...new Set(secrets)].toSorted();
  return {
    redactor: new Redactor(known),
    digests: known.map(digestOf).toSorted(),
  };
}

/** Digest long enough to distinguish secrets. */
function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 16);
}

function sourcesOf(data: DataDirectory): readonly SourceEntry[] {
  try {
    return readSources(data).sources;
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** A shorter value of a query may be a common word, such as a kind of offer, which other texts have by right. */
const minValueLength = 16;

/**
 * The whole address of a publisher where it says more than a host: a key may stand in any part of it. The long values
 * of its query by themselves, too, but for macros.
 */
function secretsOfPostback(address = ''): string[] {
  const [, target = '', query = ''] = /^\w+:\/\/[^/?#]*\/?([^?#]*(?:\?([^#]*))?)/.exec(address) ?? [];
  const values = withPlainAmpersands(query)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
    .filter((value) => value.length >= minValueLength && macrosIn(`=${value}`).length === 0);
  return [...(target === '' ? [] : [address]), ...values.flatMap(withDecoded)];
}

/** The password of an address such as `redis://user:password@host`, or a user without one, as a token is. */
function secretsOfUser(address = ''): string[] {
  const { username, password } = URL.parse(address) ?? { username: '', password: '' };
  return withDecoded(password || (username.length >= minValueLength ? username : ''));
}

/** The text as it is in an address, and decoded. */
function withDecoded(text: string): string[] {
  try {
    return [text, decodeURIComponent(text)];
  } catch {
    return [text];
  }
}
