import type { z } from 'zod';
import type { RefusalKind } from '../refusal.ts';
import type { Variant } from '../variant.ts';
import { variantA } from '../variant-a/variant.ts';
import { variantB } from '../variant-b/variant.ts';
import { variantC } from '../variant-c/variant.ts';
import * as bodies from './bodies.ts';

export interface Parameter {
  name: string;
  required?: boolean;
  description: string;
  /** JSON Schema of the value. */
  schema: object;
}

/** What a publisher can ask for, as the document describes it. */
export interface Operation {
  path: string;
  variant: Variant;
  summary: string;
  parameters: Parameter[];
  body: z.ZodType;
  /** Reasons for which it may be refused. */
  refusals: RefusalKind[];
}

const text = { type: 'string' };
const integer = (minimum: number, maximum: number, otherwise: number) => ({ type: 'integer', minimum, maximum, default: otherwise });
const largest = 2 ** 31 - 1;

const siteKey: Parameter = { name: 'site_key', required: true, description: 'Public identifier of the site', schema: text };
const siteSecret: Parameter = { name: 'site_secret', required: true, description: 'Private value of the site', schema: text };
const credentials = [siteKey, siteSecret];
const type = (otherwise?: string): Parameter => ({
  name: 'type',
  description: 'Single-reward or multireward offers',
  schema: { type: 'string', enum: ['offer', 'multireward'], ...(otherwise !== undefined && { default: otherwise }) },
});
const pagingB: Parameter[] = [
  type(),
  { name: 'take', description: 'Most offers to return', schema: integer(1, 10_000, 100) },
  { name: 'skip', description: 'Leading offers to leave out', schema: integer(0, largest, 0) },
];

const always: RefusalKind[] = ['rate_limited', 'unreadable_request', 'address_too_long', 'unavailable', 'internal'];
const identified: RefusalKind[] = ['missing_credentials', 'unknown_credentials', 'site_pending', ...always];
const keyed: RefusalKind[] = ['wrong_parameter', 'unknown_credentials', 'site_pending', ...always];

export const operations: Operation[] = [
  {
    path: '/a/api/offers',
    variant: variantA,
    summary: 'Offers of one placement format for a user',
    parameters: [
      siteKey,
      { name: 'user_id', required: true, description: 'The publisher’s user', schema: { type: 'string', minLength: 1, maxLength: 256 } },
      { name: 'format', required: true, description: 'Placement format', schema: { type: 'string', enum: ['offerwall', 'banners', 'surveys', 'PTC'] } },
    ],
    body: bodies.offersA,
    refusals: keyed,
  },
  {
    path: '/a/api/click-lookup',
    variant: variantA,
    summary: 'A click of the site, and what became of it',
    parameters: [siteKey, { name: 'click_id', required: true, description: 'The click', schema: { type: 'string', pattern: '^[ -~]{1,128}$' } }],
    body: bodies.clickLookup,
    refusals: [...keyed, 'nothing_found'],
  },
  {
    path: '/b/api/v1/offers',
    variant: variantB,
    summary: 'The offer list',
    parameters: [...credentials, ...pagingB],
    body: bodies.offersB,
    refusals: [...identified, 'wrong_type', 'wrong_parameter'],
  },
  {
    path: '/b/api/v1/offers/top-converting',
    variant: variantB,
    summary: 'Offers that converted in the last 48 hours, hottest first; the same answer for 5 minutes per parameter set',
    parameters: [...credentials, ...pagingB],
    body: bodies.topConverting,
    refusals: [...identified, 'wrong_type', 'wrong_parameter'],
  },
  {
    path: '/c/api/v1/offers',
    variant: variantC,
    summary: 'The offer list with filters and incremental sync',
    parameters: [
      ...credentials,
      type('offer'),
      { name: 'limit', description: 'Most offers to return; wins over take', schema: integer(1, 500, 100) },
      { name: 'take', description: 'Alias of limit', schema: integer(1, 500, 100) },
      { name: 'offset', description: 'Leading offers to leave out; wins over skip', schema: integer(0, largest, 0) },
      { name: 'skip', description: 'Alias of offset', schema: integer(0, largest, 0) },
      { name: 'country', description: 'ISO 3166-1 alpha-2 in any case: offers available there', schema: { type: 'string', pattern: '^[A-Za-z]{2}$' } },
      { name: 'device', description: 'Offers for this device', schema: { type: 'string', enum: ['android', 'ios', 'desktop'] } },
      { name: 'category', description: 'Category name in any case', schema: text },
      { name: 'min_payout', description: 'Least payout in USD, after commission', schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' } },
      { name: 'updated_since', description: 'ISO 8601 date or date-time, UTC without an offset: offers updated after it', schema: text },
      { name: 'include_removed', description: '1 with updated_since: also tell what left the list since then', schema: { type: 'string', enum: ['0', '1'], default: '0' } },
    ],
    body: bodies.offersC,
    refusals: [...identified, 'wrong_type', 'wrong_date', 'wrong_parameter'],
  },
  { path: '/c/api/v1/status', variant: variantC, summary: 'Health check; never limited', parameters: credentials, body: bodies.status, refusals: identified },
  { path: '/c/api/v1/reports', variant: variantC, summary: 'All active offers with their figures', parameters: credentials, body: bodies.reports, refusals: identified },
];

/** The operations that may answer a path, its form on the bare host included. */
export function operationsAt(path: string): Operation[] {
  return operations.filter((operation) => operation.path === path || operation.path.replace(/^\/[abc]/, '') === path);
}
