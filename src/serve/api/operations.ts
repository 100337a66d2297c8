import type { Operation } from '../endpoints/operation.ts';
import { clickLookup } from '../variant-a/click-lookup.ts';
import { offersA } from '../variant-a/offers.ts';
import { offersB, topConverting } from '../variant-b/pages.ts';
import { offersC } from '../variant-c/offer-list.ts';
import { conversionRecords } from '../variant-c/records/conversions.ts';
import { postbackRecords } from '../variant-c/records/postbacks.ts';
import { statement } from '../variant-c/records/statement.ts';
import { reports } from '../variant-c/reports.ts';
import { status } from '../variant-c/status.ts';

export const operations: readonly Operation[] = [
  offersA,
  clickLookup,
  offersB,
  topConverting,
  offersC,
  status,
  reports,
  statement,
  conversionRecords,
  postbackRecords,
];

/** The path on the bare host. */
export function barePath({ path }: Operation): string {
  return path.replace(/^\/[abc]/, '');
}

/** The operations that may answer a path, its form on the bare host included. */
export function operationsAt(path: string): Operation[] {
  return operations.filter((operation) => operation.path === path || barePath(operation) === path);
}
