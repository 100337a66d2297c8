import { randomBytes } from 'node:crypto';
import { momentOfMilliseconds } from '../time/moment.ts';
import type { Site } from './sites.ts';
import type { WrittenSite } from './edit-sites.ts';

/** Random bytes of a secret: the size of the signature's digest, since a longer key adds nothing. */
const secretBytes = 32;

/** Makes a secret: 64 hex digits. */
export function newSecret(): string {
  return randomBytes(secretBytes).toString('hex');
}

/** Milliseconds for which the secret before a new one is valid beside it. */
const bothValid = 86_400_000;

/**
 * Gives a site a new secret. The one before stays valid for a day beside it, or ends now. Returns the new one; `now` in
 * milliseconds since the epoch.
 */
export function rotateSecret(site: WrittenSite, now: number, { endsNow = false } = {}): string {
  const secret = newSecret();
  const { site_secret: before } = site;
  delete site['previous_site_secret'];
  delete site['previous_secret_until'];
  site['site_secret'] = secret;
  if (!endsNow)
    Object.assign(site, { previous_site_secret: before, previous_secret_until: momentOfMilliseconds(now + bothValid) });
  return secret;
}

/**
 * Returns the secret before a new one while it is valid, at a moment in milliseconds since the epoch. One without an
 * end signs, but opens nothing.
 */
export function previousSecret(
  { previous_site_secret: secret, previous_secret_until: until }: Site,
  now: number,
  use: 'signs' | 'opens',
): string | undefined {
  const isValid = until === undefined ? use === 'signs' : now < Date.parse(until);
  return isValid ? secret : undefined;
}
