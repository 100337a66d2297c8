import { createHash } from 'node:crypto';
import type { Settings } from '../../kit/config/settings.ts';
import { mappingForFile } from '../../kit/intake/mapping/mapping-schema.ts';
import { hasCurrency, type LandingMapping } from '../landing/lines/map-lines.ts';

export type MappingSettings = Pick<Settings, 'files' | 'rates'>;

/** Returns how a file is mapped, by its path in the landing folder; undefined where it is read as ours. */
export function landingMapping({ files, rates }: MappingSettings, path: string): LandingMapping | undefined {
  const mapping = mappingForFile(files, path);
  return mapping === undefined ? undefined : { mapping, rates };
}

/** Returns whether a file is mapped, by its path in the landing folder. */
export function isMappedBy({ files }: Pick<Settings, 'files'>): (path: string) => boolean {
  return (path) => mappingForFile(files, path) !== undefined;
}

/**
 * Returns a digest of all that a mapping decides of what a file says; null where there is none. The rates belong to it
 * where it converts amounts itself: those of a catalog are converted later.
 */
export function mappingDigest(settings: MappingSettings, path: string): string | null {
  const found = landingMapping(settings, path);
  if (found === undefined) return null;
  const { match: _, kind: __, ...says } = found.mapping;
  return createHash('sha256')
    .update(JSON.stringify([says, hasCurrency(found.mapping) ? settings.rates : null]))
    .digest('hex')
    .slice(0, 16);
}
