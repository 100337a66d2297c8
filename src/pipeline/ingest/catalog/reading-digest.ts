import { createHash } from 'node:crypto';
import type { CheckedFile } from '../../landing/landing-file.ts';
import type { OfferReading } from '../../landing/catalog/offer-record.ts';

/**
 * Raise it when a record may come to another offer than before, or to other warnings: then every record is read
 * again. A test asks for it where what reads records has changed.
 */
export const readingVersion = 6;

/**
 * Digest of all that decides beside its text what a record says: the version of the reading, the time zones and the
 * Unicode of its Node, the configuration, and whether its values come from cells of text. Equal texts with equal
 * digests say the same.
 */
export function readingDigest(
  { format }: Pick<CheckedFile, 'format'>,
  { currencyRates, timeZone }: Pick<OfferReading, 'currencyRates' | 'timeZone'>,
): string {
  const rates = Object.entries(currencyRates).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([readingVersion, process.version, rates, timeZone ?? null, hasTextCells(format)]))
    .digest('hex');
}

/** Returns whether values come from cells of text: an empty text is absent, and nested values are JSON text. */
export function hasTextCells(format: CheckedFile['format']): boolean {
  return format === 'csv' || format === 'parquet' || format === 'xlsx';
}
