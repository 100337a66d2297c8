import type { z } from 'zod';
import { cacheControl } from '../http/caching.ts';
import { siteKey, siteSecret } from '../../kit/http/site-registry.ts';
import type { DescribedParameter } from '../../kit/http/query.ts';
import type { ApiErrorKind } from '../../kit/http/errors.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { clickLookup } from '../variant-a/click-lookup.ts';
import { offersA } from '../variant-a/offers.ts';
import { parametersA } from '../variant-a/parameters.ts';
import { offersB, parametersB, topConverting } from '../variant-b/pages.ts';
import { offersC, parametersC } from '../variant-c/offer-list.ts';
import { reports } from '../variant-c/reports.ts';
import { status } from '../variant-c/status.ts';
import * as bodies from './openapi/bodies.ts';

/** What a publisher can ask for: where, who answers, and how the document describes it. */
export interface Operation {
  /** Under the base address of its variant. */
  path: string;
  endpoint: Endpoint;
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
    endpoint: offersA,
    summary: 'Offers of one placement format for a user',
    parameters: [siteKey, parametersA.userId, parametersA.format],
    body: bodies.offersA,
    cacheControl: cacheControl.page,
    errorKinds: keyed,
  },
  {
    path: '/a/api/click-lookup',
    endpoint: clickLookup,
    summary: 'A click of the site, and what became of it',
    parameters: [siteKey, parametersA.clickId],
    body: bodies.clickLookup,
    cacheControl: cacheControl.page,
    errorKinds: [...keyed, 'nothing_found'],
  },
  {
    path: '/b/api/v1/offers',
    endpoint: offersB,
    summary: 'The offer list',
    parameters: [...credentials, ...Object.values(parametersB)],
    body: bodies.offersB,
    cacheControl: cacheControl.page,
    errorKinds: [...identified, 'wrong_type', 'wrong_parameter'],
  },
  {
    path: '/b/api/v1/offers/top-converting',
    endpoint: topConverting,
    summary:
      'Offers that converted in the last 48 hours, hottest first; the same answer for 5 minutes per parameter set',
    parameters: [...credentials, ...Object.values(parametersB)],
    body: bodies.topConverting,
    cacheControl: cacheControl.topConverting,
    errorKinds: [...identified, 'wrong_type', 'wrong_parameter'],
  },
  {
    path: '/c/api/v1/offers',
    endpoint: offersC,
    summary: 'The offer list with filters and incremental sync',
    parameters: [...credentials, ...Object.values(parametersC)],
    body: bodies.offersC,
    cacheControl: cacheControl.page,
    errorKinds: [...identified, 'wrong_type', 'wrong_date', 'wrong_parameter'],
  },
  {
    path: '/c/api/v1/status',
    endpoint: status,
    summary: 'Health check; never limited',
    parameters: credentials,
    body: bodies.status,
    cacheControl: cacheControl.noStore,
    errorKinds: identified,
  },
  {
    path: '/c/api/v1/reports',
    endpoint: reports,
    summary: 'All active offers with their figures',
    parameters: credentials,
    body: bodies.reports,
    cacheControl: cacheControl.page,
    errorKinds: identified,
  },
];

/** The path on the bare host. */
export function barePath({ path }: Operation): string {
  return path.replace(/^\/[abc]/, '');
}

/** The operations that may answer a path, its form on the bare host included. */
export function operationsAt(path: string): Operation[] {
  return operations.filter((operation) => operation.path === path || barePath(operation) === path);
}
