import type { Operation } from '../endpoints/operation.ts';
import { clickLookup } from '../variant-a/click-lookup.ts';
import { offersA } from '../variant-a/offers.ts';
import { offersB, topConverting } from '../variant-b/pages.ts';
import { offersC } from '../variant-c/offer-list.ts';
import { conversionRecords } from '../variant-c/records/conversions.ts';
import { postbackRecords } from '../variant-c/records/postbacks.ts';
import { resendOperation } from '../variant-c/orders/resend.ts';
import { testPostback } from '../variant-c/orders/test.ts';
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
  resendOperation,
  testPostback,
];

/** Methods of its route. */
export function methodsOf({ method }: Operation): readonly ('GET' | 'HEAD' | 'POST')[] {
  return method === undefined ? ['GET', 'HEAD'] : [method];
}

/** The path on the bare host. */
export function barePath({ path }: Operation): string {
  return path.replace(/^\/[abc]/, '');
}

/** The operations that may answer a path, its form on the bare host included. */
export function operationsAt(path: string): Operation[] {
  return operations.filter((operation) => [operation.path, barePath(operation)].some((each) => isAt(each, path)));
}

/** Whether a path is one of a route's. */
export function isAt(route: string, path: string): boolean {
  if (!route.includes(':')) return route === path;
  const [parts, given] = [route.split('/'), path.split('/')];
  return parts.length === given.length && parts.every((part, index) => part.startsWith(':') || part === given[index]);
}
