import { withOffset } from '../../../kit/time/iso-moment.ts';
import { hourlyRecords } from '../../access/limits.ts';
import { bySecret, passingPage } from '../../endpoints/operation.ts';
import { cacheControl } from '../../http/caching.ts';
import { exactJson } from '../../http/exact-json.ts';
import { pageBody, type PreparedPage } from '../../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../../snapshot/published-snapshot.ts';
import { variantC } from '../variant.ts';

/** Declared alike by all operations on a site's own records. */
export const ofRecords = {
  variant: variantC,
  identify: bySecret,
  limit: hourlyRecords,
  cacheControl: cacheControl.page,
} as const;

/** A page of a site's records; amounts in `fields` are exact numbers. */
export function recordsPage(snapshot: PublishedSnapshot, fields: object): PreparedPage {
  const body = exactJson({ success: true, version: 'v1', as_of: withOffset(snapshot.asOf), ...fields });
  return passingPage(variantC, snapshot, pageBody(Buffer.from(body)));
}

export function momentOrNull(at: string | null): string | null {
  return at === null ? null : withOffset(at);
}
