import type { z } from 'zod';
import { ApiError } from '../../kit/http/errors.ts';
import type { ApiErrorKind } from '../../kit/http/errors.ts';
import type { Query } from '../../kit/http/query.ts';
import type { SiteRegistry } from '../../kit/http/site-registry.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { TestOutcome } from '../../postbacks/http/test-postback.ts';
import type { ResendOrder, Resent } from '../../postbacks/store/query-store.ts';
import type { LimitRule } from '../access/limits.ts';
import { cacheControl } from '../http/caching.ts';
import { snapshotHeaders } from '../http/response.ts';
import type { Body, HttpResponse } from '../http/response.ts';
import type { Variant } from '../http/variant.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import { renderOnce } from '../pages/offer-page.ts';
import type { OfferPage } from '../pages/offer-page.ts';
import { heldPrefix } from '../pages/page-cache.ts';
import type { PageCache } from '../pages/page-cache.ts';
import { PreparedPage } from '../pages/prepared-page.ts';
import type { PageBody } from '../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';

/** Carries out what sites order; there are few orders, and none is answered from a snapshot. */
export interface SiteOrders {
  /** Undefined where the site has no such postback. Throws `OfferlineError` where the store cannot be used. */
  resend(order: ResendOrder): Promise<Resent | undefined>;
  /** Sends a test postback and waits for its answer. The site has a postback address. */
  test(site: Site): Promise<TestOutcome>;
}

/** A request of an identified and approved site, with the snapshot that answers it. */
export interface RequestContext<Parameters> {
  site: Site;
  parameters: Parameters;
  snapshot: PublishedSnapshot;
  feed: SiteFeed;
  pages: PageCache;
  orders: SiteOrders;
  /** Moment at which it came, milliseconds since the epoch. */
  now: number;
}

type Answer = HttpResponse | PreparedPage | Promise<HttpResponse | PreparedPage>;

/** A publisher's request in one declaration: where it is, how it is checked, what answers it, how it is described. */
export interface Operation {
  /** Default: GET, and HEAD with it. A POST has its parameters in the body, as a form or as JSON. */
  method?: 'POST';
  /** Under the base address of its variant; a part that begins with a colon is a parameter. */
  path: string;
  /** A method's name in generated clients. */
  operationId: string;
  summary: string;
  variant: Variant;
  identify: Identification;
  limit: LimitRule;
  /** Credentials among them. */
  querystring: z.ZodType;
  /** Parameters of the path. */
  params?: z.ZodType;
  /** Status of the answer. Default: 200. */
  status?: 202;
  /** Schema of that answer. */
  body: z.ZodType;
  /** `Cache-Control` of that answer; one that may be kept also has an ETag. */
  cacheControl: string;
  /** Reasons for which it may be refused. */
  errorKinds: readonly ApiErrorKind[];
  respond(context: RequestContext<unknown>): Answer;
}

interface OperationOf<Parameters extends z.ZodType, InPath extends z.ZodType = z.ZodType<object>> extends Omit<
  Operation,
  'querystring' | 'params' | 'respond'
> {
  querystring: Parameters;
  params?: InPath;
  respond(context: RequestContext<z.output<Parameters> & z.output<InPath>>): Answer;
}

/** Declares an operation whose `respond` gets all parameters, those of its path too, as their schemas read them. */
export function operation<Parameters extends z.ZodType, InPath extends z.ZodType = z.ZodType<object>>(
  declared: OperationOf<Parameters, InPath>,
): Operation {
  return declared;
}

interface PageOperation<Parameters extends z.ZodType> extends Omit<
  OperationOf<Parameters>,
  'identify' | 'cacheControl' | 'respond'
> {
  /** The page stays so long as it was made, whatever is published meanwhile. Default: until the next snapshot. */
  heldMilliseconds?: number;
  /** A function of snapshot, site and parameters, so that it can be kept. */
  page(snapshot: PublishedSnapshot, feed: SiteFeed, parameters: z.output<Parameters>): OfferPage;
}

/** An operation for key and secret whose pages come out of the cache. */
export function pageOperation<Parameters extends z.ZodType>(declared: PageOperation<Parameters>): Operation {
  const { variant, operationId, heldMilliseconds } = declared;
  const isHeld = heldMilliseconds !== undefined;
  return operation({
    ...declared,
    identify: bySecret,
    cacheControl: isHeld ? cacheControl.topConverting : cacheControl.page,
    respond({ parameters, snapshot, feed, pages, now }) {
      const asked = `${operationId} ${JSON.stringify(parameters)}`;
      // The feed's number is another with each snapshot.
      const key = isHeld ? `${heldPrefix}${asked} ${feed.siteKey}` : `${feed.number} ${asked}`;
      const known = () => {
        const page = pages.get(key);
        if (!(page instanceof PreparedPage)) return undefined;
        // A clock that was set back must not prolong it.
        return !isHeld || (now >= page.madeAt && now - page.madeAt < heldMilliseconds) ? page : undefined;
      };
      return (
        known() ??
        renderOnce(declared.page(snapshot, feed, parameters), known, (body) => {
          const headers = { ...snapshotHeaders(snapshot, variant), 'cache-control': this.cacheControl };
          const grown = (page: PreparedPage) => pages.weighAgain(key, page);
          const page = new PreparedPage(headers, body, { madeAt: now, grown });
          return isHeld ? pages.keep(key, page) : pages.keepAskedAgain(key, page);
        })
      );
    },
  });
}

/** A page that nobody is expected to ask for again soon. */
export function passingPage(variant: Variant, snapshot: PublishedSnapshot, body: PageBody<Body>): PreparedPage {
  return new PreparedPage({ ...snapshotHeaders(snapshot, variant), 'cache-control': cacheControl.page }, body);
}

/** Finds the site that a query comes from. Throws `ApiError`. */
export type Identification = (sites: SiteRegistry, query: Query) => Site;

/** Variants B and C: by key and secret. */
export const bySecret: Identification = (sites, query) => sites.identify(query);

/** Variant A: by the key alone, after the check that it and the other required parameters are there. */
export function byKey(...others: string[]): Identification {
  const names = ['site_key', ...others];
  return (sites, query) => {
    const missing = names.filter((name) => query[name] === undefined);
    if (missing.length > 0)
      throw new ApiError('wrong_parameter', `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`);
    return sites.identifyByKey(query);
  };
}

const always: readonly ApiErrorKind[] = [
  'rate_limited',
  'unreadable_request',
  'address_too_long',
  'unmet_expectation',
  'unavailable',
  'internal',
];

/** Reasons for which operations by key and secret, and by key alone, may be refused. */
export const errorsBySecret: readonly ApiErrorKind[] = [
  'missing_credentials',
  'unknown_credentials',
  'site_pending',
  ...always,
];
export const errorsByKey: readonly ApiErrorKind[] = [
  'wrong_parameter',
  'unknown_credentials',
  'site_pending',
  ...always,
];
