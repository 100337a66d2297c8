import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readDocument } from '../../kit/config/json-document.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';

/**
 * Returns what a restored data directory needs that no backup of it holds, in words: files and variables that its
 * configuration names, and stores on other machines. No secret is in it.
 */
export function leftOutside(data: DataDirectory, settings: Settings): string[] {
  const outside = [data.settingsFile, data.sitesFile, data.sourcesFile]
    .filter((file) => existsSync(file))
    .flatMap(referencesIn);
  const { country_database: countries } = settings.tracker;
  return [
    ...outside,
    ...(countries === undefined ? [] : [`the file ${countries} (offerline.json tracker.country_database)`]),
    ...(settings.postbacks.store === undefined
      ? []
      : ['deliveries in PostgreSQL (offerline.json postbacks.store): pg_dump them once this backup has ended']),
    ...(existsSync(data.pictures) ? ['mirrored pictures: `offerline pictures` fetches them again'] : []),
  ];
}

/** References of a configuration file; that it is no JSON where it is none, since the backup has it all the same. */
function referencesIn(file: string): string[] {
  const name = basename(file);
  try {
    return references(readDocument(z.unknown(), readFileSync(file, 'utf8'), name), name);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [`what ${name} refers to (${error.message})`];
  }
}

/** References to secrets, each with its place. */
function references(value: unknown, place: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first !== undefined && typeof first[1] === 'string') {
    if (first[0] === 'env') return [`the variable ${first[1]} (${place})`];
    if (first[0] === 'file') return [`the file ${first[1]} (${place})`];
  }
  return entries.flatMap(([name, inner]) =>
    references(inner, `${place}${Array.isArray(value) ? `[${name}]` : ` ${name}`}`),
  );
}
