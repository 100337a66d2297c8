import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CheckedFile } from '../../landing/landing-file.ts';
import type { OfferReading } from '../../landing/catalog/offer-record.ts';

/** Where it stands what an offer a record makes. Another line there may make another one of it. */
export const readingRooms = [
  'errors',
  'text',
  'time',
  'config',
  'vocabulary',
  'landing',
  'landing/catalog',
  'feed',
  'ingest/catalog',
];

let ofProgram: string | undefined;

/**
 * What decides beside its text what a record says: the program, with the time zones and the Unicode of its Node, the
 * configuration, and whether its values come from cells of text. Equal texts with equal digests say the same.
 */
export function readingDigest(
  { format }: Pick<CheckedFile, 'format'>,
  { currencyRates, timeZone }: Pick<OfferReading, 'currencyRates' | 'timeZone'>,
): string {
  ofProgram ??= programDigest();
  const rates = Object.entries(currencyRates).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([ofProgram, process.version, rates, timeZone ?? null, hasTextCells(format)]))
    .digest('hex');
}

/** In CSV and Parquet an empty text is absent, and nested values are JSON text. */
export function hasTextCells(format: CheckedFile['format']): boolean {
  return format === 'csv' || format === 'parquet';
}

function programDigest(): string {
  const digest = createHash('sha256');
  for (const room of readingRooms) {
    const folder = fileURLToPath(new URL(`../../${room}/`, import.meta.url));
    for (const name of readdirSync(folder).toSorted()) {
      if (name.endsWith('.ts')) digest.update(`${room}/${name}\n`).update(readFileSync(`${folder}/${name}`));
    }
  }
  return digest.digest('hex');
}
