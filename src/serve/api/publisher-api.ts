import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../kit/config/settings.ts';
import type { MirroredPictures } from '../../pictures/mirrored-pictures.ts';
import type { Site } from '../../kit/sites/sites.ts';
import { errorResponse, withHeaders } from '../http/response.ts';
import type { HttpResponse } from '../http/response.ts';
import { clientAddresses } from '../../kit/http/client-address.ts';
import type { ClientAddresses } from '../../kit/http/client-address.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { PageCache } from '../pages/page-cache.ts';
import type { Links } from '../offers/links.ts';
import type { SiteRegistry } from '../../kit/http/site-registry.ts';
import type { Gauge } from '../../kit/http/gauge.ts';
import { barePath, operations } from './operations.ts';
import { mirroredResponse, pictureResponse } from './pictures.ts';
import { PreparedPage } from '../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import type { Query } from '../../kit/http/query.ts';
import { limitHeaders } from '../access/limits.ts';
import { retryAfterHeader } from '../../kit/http/sliding-windows.ts';
import { ApiError } from '../../kit/http/errors.ts';
import type { RequestLimits } from '../access/limits.ts';
import type { Variant } from '../http/variant.ts';
import { variantA } from '../variant-a/variant.ts';
import { offersB } from '../variant-b/pages.ts';
import { variantB } from '../variant-b/variant.ts';
import { offersC } from '../variant-c/offer-list.ts';
import { variantC } from '../variant-c/variant.ts';

/** Clients that read at all take what they have asked for within some seconds. */
const retryWhenOverloadedSeconds = 10;

/** Where an endpoint depends on who asks; undefined stands for nobody identified. */
type EndpointChoice = (site: Site | undefined) => Endpoint;

/** What a response depends on of a request, beside its path. */
export interface PublisherRequest {
  query: Query;
  headers: IncomingHttpHeaders;
  /** Of the connection's other end. */
  remoteAddress: string | undefined;
}

/** What responses need from the running service, as it is at the moment of the request. */
export interface ServiceState {
  sites: SiteRegistry;
  limits: RequestLimits;
  snapshot: () => PublishedSnapshot | undefined;
  links: (of: PublishedSnapshot) => Links;
  /** Undefined where pictures are not mirrored. */
  pictures: MirroredPictures | undefined;
  /** Wall clock, milliseconds since the epoch. */
  now: () => number;
}

/** The publishers' endpoints by path: each variant under its own base address, all of them on the bare host. */
export class PublisherApi {
  readonly #state: ServiceState;
  readonly #defaultVariant: Variant;
  readonly #endpoints: ReadonlyMap<string, EndpointChoice>;
  readonly #clientAddresses: ClientAddresses;
  readonly #pages = new PageCache();
  /** What the pages were made of, but for those that are held. */
  #pagesOf: PublishedSnapshot | undefined;

  constructor(state: ServiceState, settings: Pick<Settings, 'default_variant' | 'trusted_proxies'>) {
    const offersOf = { B: offersB, C: offersC };
    this.#state = state;
    this.#clientAddresses = clientAddresses(settings.trusted_proxies);
    this.#defaultVariant = settings.default_variant === 'B' ? variantB : variantC;
    this.#endpoints = new Map<string, EndpointChoice>([
      ...operations.flatMap((operation) =>
        [operation.path, barePath(operation)].map((path): [string, EndpointChoice] => [path, () => operation.endpoint]),
      ),
      // Variant A has no endpoint of this name: its sites get the default one.
      [
        '/api/v1/offers',
        (site) => offersOf[site === undefined || site.variant === 'A' ? settings.default_variant : site.variant],
      ],
    ]);
  }

  get gauges(): Gauge[] {
    const { pictures } = this.#state;
    return [...this.#pages.gauges, ...(pictures === undefined ? [] : pictureGauges(pictures.cached))];
  }

  get paths(): string[] {
    return [...this.#endpoints.keys()];
  }

  /** The response to a request for one of the paths; what is wrong with the request is a response too. */
  async respond(path: string, request: PublisherRequest): Promise<HttpResponse> {
    const choose = this.#endpoints.get(path);
    if (choose === undefined) return this.error(path, new ApiError('unknown_path', 'there is nothing at this address'));
    // Read once: a snapshot that arrives meanwhile must not mix into this answer.
    const snapshot = this.#state.snapshot();
    if (snapshot !== this.#pagesOf) this.#pages.dropAllButHeld();
    this.#pagesOf = snapshot;
    const now = this.#state.now();
    const { identify, variant: assumed } = choose(undefined);
    let variant = assumed;
    let more: Readonly<Record<string, string>> = {};
    try {
      const site = identify(this.#state.sites, request.query);
      const endpoint = choose(site);
      variant = endpoint.variant;
      const isApproved = site.status === 'active';
      const limit = await this.#state.limits.check(
        endpoint.limit,
        site,
        () => this.#clientOf(request),
        now,
        isApproved && snapshot !== undefined,
      );
      if (variant.showsLimits) more = limitHeaders(limit);
      if (!isApproved)
        throw new ApiError('site_pending', 'this site is not approved yet; its feed opens with the approval');
      if (snapshot === undefined) throw nothingPublished();
      if (endpoint.limit.counted && !limit.allowed) {
        more = { ...limitHeaders(limit), ...retryAfterHeader(limit, now) };
        throw new ApiError(
          'rate_limited',
          `this site has used up its ${limit.limit} requests; Retry-After says in how many seconds there is room for the next`,
        );
      }
      const feed = snapshot.feedOf(site, this.#state.links(snapshot));
      const found = await endpoint.respond({
        site,
        query: request.query,
        snapshot,
        feed,
        pages: this.#pages,
        now,
      });
      // Only here, after all checks: who may not have the page is not told either that it is unchanged.
      const response = found instanceof PreparedPage ? await found.respond(request.headers) : found;
      return { ...response, more, variant };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === 'unknown_credentials')
        return this.#rejectUnknownCredentials(error, variant, snapshot, request, now);
      return withHeaders(errorResponse(error, variant, snapshot), more);
    }
  }

  /**
   * Guessing of credentials is slowed down by the address that it comes from; the site that was named does not notice.
   */
  async #rejectUnknownCredentials(
    error: ApiError,
    variant: Variant,
    snapshot: PublishedSnapshot | undefined,
    request: PublisherRequest,
    now: number,
  ): Promise<HttpResponse> {
    const limit = await this.#state.limits.countFailure(this.#clientOf(request), now);
    if (limit.allowed) return errorResponse(error, variant, snapshot);
    const tooMany = new ApiError(
      'rate_limited',
      'too many failed identifications from this address; try again later with the right credentials',
    );
    return withHeaders(errorResponse(tooMany, variant, snapshot), retryAfterHeader(limit, now));
  }

  #clientOf({ remoteAddress, headers }: PublisherRequest): string {
    return this.#clientAddresses(remoteAddress, headers['x-forwarded-for']?.toString());
  }

  /** The picture of a published name where it is mirrored, else where the advertiser has it. */
  async picture(path: string, name: string, request: IncomingHttpHeaders): Promise<HttpResponse> {
    const snapshot = this.#state.snapshot();
    if (snapshot === undefined) return this.error(path, nothingPublished());
    const address = snapshot.pictures.get(name);
    if (address === undefined)
      return this.error(path, new ApiError('nothing_found', 'no offer has a picture of this name'));
    const redirect = pictureResponse(address, this.#variantAt(path), snapshot);
    const mirrored = await this.#state.pictures?.find(name);
    return mirrored === undefined ? redirect : { ...mirroredResponse(mirrored, request), instead: redirect };
  }

  /** An error in the form of the variant that the path belongs to. */
  error(path: string, error: ApiError): HttpResponse {
    return errorResponse(error, this.#variantAt(path), this.#state.snapshot());
  }

  /** In place of a response that there is no room for, since too much waits for clients that do not take it. */
  overloaded(path: string, { variant = this.#variantAt(path), more }: HttpResponse): HttpResponse {
    const error = new ApiError(
      'unavailable',
      'too many answers are waiting for slow clients; Retry-After says in how many seconds to try again',
    );
    return withHeaders(errorResponse(error, variant, this.#state.snapshot()), {
      ...more,
      'retry-after': String(retryWhenOverloadedSeconds),
    });
  }

  #variantAt(path: string): Variant {
    if (/^\/a(\/|$)/.test(path)) return variantA;
    if (/^\/b(\/|$)/.test(path)) return variantB;
    if (/^\/c(\/|$)/.test(path)) return variantC;
    return this.#endpoints.get(path)?.(undefined).variant ?? this.#defaultVariant;
  }
}

function nothingPublished(): ApiError {
  return new ApiError('unavailable', 'nothing is published yet; try again in some minutes');
}

function pictureGauges({ bytes, limit }: MirroredPictures['cached']): Gauge[] {
  return [
    { name: 'offerline_picture_cache_bytes', help: 'Memory held by mirrored pictures.', value: bytes },
    {
      name: 'offerline_picture_cache_bytes_limit',
      help: 'Beyond so much, the pictures unused for longest are dropped.',
      value: limit,
    },
  ];
}
