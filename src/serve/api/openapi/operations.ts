import type { z } from 'zod';
import { cacheControl } from '../../http/caching.ts';
import { siteKey, siteSecret } from '../../access/site-registry.ts';
import type { DescribedParameter } from '../../http/query.ts';
import type { ApiErrorKind } from '../../http/errors.ts';
import type { Variant } from '../../http/variant.ts';
import { parametersA } from '../../variant-a/parameters.ts';
import { variantA } from '../../variant-a/variant.ts';
import { parametersB } from '../../variant-b/pages.ts';
import { variantB } from '../../variant-b/variant.ts';
import { parametersC } from '../../variant-c/offer-list.ts';
import { variantC } from '../../variant-c/variant.ts';

import * as bodies from './bodies.ts';

/** What a publisher can ask for, as the document describes it. */
export interface Operation {
  path: string;
  variant: Variant;
  summary: string;
  parameters: readonly DescribedParameter[];
  body: z.ZodType;
  /** Of the answer; one that may be kept also has an ETag. */
  cacheControl: string;
  /** Reasons for which it may be refused. */
  errorKinds: ApiErrorKind[];
}

const credentials = [siteKey, siteSecret];

const always: ApiErrorKind[] = [
  'rate_limited',
  'unreadable_request',
  'address_too_long',
  'unmet_expectation',
  'unavailable',
  'internal',
];
const identified: ApiErrorKind[] = ['missing_credentials', 'unknown_credentials', 'site_pending', ...always];
const keyed: ApiErrorKind[] = ['wrong_parameter', 'unknown_credentials', 'site_pending', ...always];

export const operations: Operation[] = [
  {
    path: '/a/api/offers',
    variant: variantA,
    summary: 'Offers of one placement format for a user',
    parameters: [siteKey, parametersA.userId, parametersA.format],
    body: bodies.offersA,
    cacheControl: cacheControl.page,
    errorKinds: keyed,
  },
  {
    path: '/a/api/click-lookup',
    variant: variantA,
    summary: 'A click of the site, and what became of it',
    parameters: [siteKey, parametersA.clickId],
    body: bodies.clickLookup,
    cacheControl: cacheControl.page,
    errorKinds: [...keyed, 'nothing_found'],
  },
  {
    path: '/b/api/v1/offers',
    variant: variantB,
    summary: 'The offer list',
    parameters: [...credentials, ...Object.values(parametersB)],
    body: bodies.offersB,
    cacheControl: cacheControl.page,
    errorKinds: [...identified, 'wrong_type', 'wrong_parameter'],
  },
  {
    path: '/b/api/v1/offers/top-converting',
    variant: variantB,
    summary:
      'Offers that converted in the last 48 hours, hottest first; the same answer for 5 minutes per parameter set',
    parameters: [...credentials, ...Object.values(parametersB)],
    body: bodies.topConverting,
    cacheControl: cacheControl.topConverting,
    errorKinds: [...identified, 'wrong_type', 'wrong_parameter'],
  },
  {
    path: '/c/api/v1/offers',
    variant: variantC,
    summary: 'The offer list with filters and incremental sync',
    parameters: [...credentials, ...Object.values(parametersC)],
    body: bodies.offersC,
    cacheControl: cacheControl.page,
    errorKinds: [...identified, 'wrong_type', 'wrong_date', 'wrong_parameter'],
  },
  {
    path: '/c/api/v1/status',
    variant: variantC,
    summary: 'Health check; never limited',
    parameters: credentials,
    body: bodies.status,
    cacheControl: cacheControl.noStore,
    errorKinds: identified,
  },
  {
    path: '/c/api/v1/reports',
    variant: variantC,
    summary: 'All active offers with their figures',
    parameters: credentials,
    body: bodies.reports,
    cacheControl: cacheControl.page,
    errorKinds: identified,
  },
];

/** The operations that may answer a path, its form on the bare host included. */
export function operationsAt(path: string): Operation[] {
  return operations.filter((operation) => operation.path === path || operation.path.replace(/^\/[abc]/, '') === path);
}
