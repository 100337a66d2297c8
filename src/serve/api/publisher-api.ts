import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../kit/config/settings.ts';
import { clientAddresses } from '../../kit/http/client-address.ts';
import type { ClientAddresses } from '../../kit/http/client-address.ts';
import { ApiError } from '../../kit/http/errors.ts';
import type { Query } from '../../kit/http/query.ts';
import type { SiteRegistry } from '../../kit/http/site-registry.ts';
import { retryAfterHeader } from '../../kit/http/sliding-windows.ts';
import type { Metrics } from '../../kit/metrics/metrics.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { MirroredPictures } from '../../pictures/mirrored-pictures.ts';
import { limitHeaders } from '../access/limits.ts';
import type { RequestLimits } from '../access/limits.ts';
import type { Operation, RequestContext, SiteOrders } from '../endpoints/operation.ts';
import { parameterError } from '../http/parameters.ts';
import { errorResponse, wholeOf, withHeaders } from '../http/response.ts';
import type { HttpResponse } from '../http/response.ts';
import type { Variant } from '../http/variant.ts';
import type { Links } from '../offers/links.ts';
import { PageCache } from '../pages/page-cache.ts';
import { PreparedPage } from '../pages/prepared-page.ts';
import { pathOf } from '../server/access-log.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import { variantA } from '../variant-a/variant.ts';
import { variantB } from '../variant-b/variant.ts';
import { variantC } from '../variant-c/variant.ts';
import { operationSchema } from './openapi/route-schema.ts';
import { barePath, methodsOf, operations, operationsAt } from './operations.ts';
import { parametersOf, readBodies } from './request-body.ts';
import { mirroredResponse, pictureResponse } from './pictures.ts';

/** Parts of the running service that responses need, as they are at the moment of the request. */
export interface ServiceState {
  sites: SiteRegistry;
  limits: RequestLimits;
  snapshot: () => PublishedSnapshot | undefined;
  links: (of: PublishedSnapshot) => Links;
  /** Undefined where pictures are not mirrored. */
  pictures: MirroredPictures | undefined;
  orders: SiteOrders;
  /** Wall clock, milliseconds since the epoch. */
  now: () => number;
}

/** A publisher's request, as far as its checks have come. */
interface PublisherRequest {
  /** For a path whose operation depends on the site: that of nobody identified, until the site is known. */
  operation: Operation;
  site: Site | undefined;
  /** Read once: a snapshot that arrives meanwhile must not mix into the answer. */
  snapshot: PublishedSnapshot | undefined;
  /** Moment at which it came, milliseconds since the epoch. */
  now: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests at publishers' paths only. */
    asked: PublisherRequest | undefined;
  }
  interface FastifyReply {
    /** Sends a response, or its replacement where too much waits for slow clients. */
    answer(response: HttpResponse): FastifyReply;
  }
}

/** Clients that read at all take what they have asked for within some seconds. */
const retryWhenOverloadedSeconds = 10;

/** The publishers' operations by path: each variant under its own base address, all of them on the bare host. */
export class PublisherApi {
  readonly state: ServiceState;
  readonly #defaultVariant: Variant;
  readonly #clientAddresses: ClientAddresses;
  readonly #pages = new PageCache();
  /** The snapshot that the pages were made of, but for those that are held. */
  #pagesOf: PublishedSnapshot | undefined;

  constructor(state: ServiceState, settings: Pick<Settings, 'default_variant' | 'trusted_proxies'>, metrics: Metrics) {
    this.state = state;
    this.#clientAddresses = clientAddresses(settings.trusted_proxies);
    this.#defaultVariant = settings.default_variant === 'B' ? variantB : variantC;
    const pages = this.#pages;
    metrics.gauge('offerline_prepared_pages', 'Pages that are kept prepared.', () => pages.size);
    metrics.gauge('offerline_prepared_page_bytes', 'Memory held by prepared pages.', () => pages.bytes);
    metrics.gauge(
      'offerline_prepared_page_bytes_limit',
      'Beyond so much, the pages unused for longest are dropped.',
      () => pages.maxBytes,
    );
  }

  /** Adds a route for each path. */
  register(server: FastifyInstance): void {
    server.decorateRequest('asked', undefined);
    readBodies(server);
    for (const operation of operations) this.#route(server, operation.path, [operation]);
    for (const [path, candidates] of Map.groupBy(operations, barePath)) this.#route(server, path, candidates);
  }

  #route(server: FastifyInstance, url: string, candidates: readonly Operation[]): void {
    const [only] = candidates as [Operation];
    const hasChoice = candidates.length > 1;
    for (const method of methodsOf(only)) {
      const isDescribed = method !== 'HEAD' && url === only.path;
      server.route({
        method,
        url,
        // Where the operation depends on the site, its parameters do, too: they are validated when the site is known.
        schema: hasChoice ? { hide: true } : operationSchema(only, isDescribed),
        preValidation: async (request, reply) => this.#check(request, reply, candidates),
        ...(hasChoice && { preHandler: validateByOperation }),
        handler: async (request, reply) => this.#respond(request, reply),
      });
    }
  }

  /** All checks but that of the parameters, in their order. Throws `ApiError`. */
  async #check(request: FastifyRequest, reply: FastifyReply, candidates: readonly Operation[]): Promise<void> {
    const { limits, sites } = this.state;
    const asked = this.#begin(this.#choose(candidates, undefined));
    request.asked = asked;
    const site = asked.operation.identify(sites, parametersOf(request));
    asked.site = site;
    asked.operation = this.#choose(candidates, site);

    const { operation, snapshot, now } = asked;
    const isApproved = site.status === 'active';
    const counts = isApproved && snapshot !== undefined;
    const limit = await limits.check(operation.limit, site, () => this.clientOf(request), now, counts);
    if (operation.variant.showsLimits) reply.headers(limitHeaders(limit));
    if (!isApproved) throw notOpen(site, 'feed');
    if (snapshot === undefined) throw nothingPublished();
    if (operation.limit.counted && !limit.allowed) {
      reply.headers({ ...limitHeaders(limit), ...retryAfterHeader(limit, now) });
      throw new ApiError(
        'rate_limited',
        `this site has used up its ${limit.limit} requests; Retry-After says in how many seconds there is room for the next`,
      );
    }
  }

  #begin(operation: Operation): PublisherRequest {
    const snapshot = this.state.snapshot();
    if (snapshot !== this.#pagesOf) this.#pages.dropAllButHeld();
    this.#pagesOf = snapshot;
    return { operation, site: undefined, snapshot, now: this.state.now() };
  }

  /** The operation of the site's variant, else of the default one; where a path has one operation only, that one. */
  #choose(candidates: readonly Operation[], site: Site | undefined): Operation {
    const of = (letter: string | undefined) => candidates.find(({ variant }) => variant.letter === letter);
    return of(site?.variant) ?? of(this.#defaultVariant.letter) ?? (candidates[0] as Operation);
  }

  /** Answers a request that has passed all checks. */
  async #respond(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { operation, site, snapshot, now } = request.asked as Required<PublisherRequest> & {
      site: Site;
      snapshot: PublishedSnapshot;
    };
    const sent = parametersOf(request);
    const parameters = operation.params === undefined ? sent : { ...sent, ...(request.params as object) };
    const found = await operation.respond(this.#contextOf(site, snapshot, parameters, now));
    // Only here, after all checks: anyone who may not have the page must not learn that it is unchanged either.
    return reply.answer(found instanceof PreparedPage ? await found.respond(request.headers) : found);
  }

  #contextOf(site: Site, snapshot: PublishedSnapshot, parameters: unknown, now: number): RequestContext<unknown> {
    const feed = snapshot.feedOf(site, this.state.links(snapshot));
    return { site, parameters, snapshot, feed, pages: this.#pages, orders: this.state.orders, now };
  }

  /** The snapshot that answers now. Throws `ApiError` before anything was published. */
  servedSnapshot(): PublishedSnapshot {
    const { snapshot } = this.#begin(operations[0] as Operation);
    if (snapshot === undefined) throw nothingPublished();
    return snapshot;
  }

  /**
   * The document that an operation answers a site with, which has shown its secret, counted against no limit. Throws
   * `ApiError`, also for parameters that the operation does not take.
   */
  async answerOf(
    operation: Operation,
    site: Site,
    snapshot: PublishedSnapshot,
    sent: Readonly<Record<string, string>>,
  ): Promise<unknown> {
    const asked = { ...sent, site_key: site.site_key, site_secret: site.site_secret };
    const read = operation.querystring.safeParse(asked);
    const inPath = operation.params?.safeParse(asked);
    const [mistake] = [...(read.error?.issues ?? []), ...(inPath?.error?.issues ?? [])];
    if (mistake !== undefined) throw parameterError(asked, String(mistake.path[0]), mistake.message);
    const parameters = { ...(read.data as object), ...(inPath?.data as object | undefined) };
    const found = await operation.respond(this.#contextOf(site, snapshot, parameters, this.state.now()));
    const { body } = found instanceof PreparedPage ? await found.respond({}) : found;
    return body === undefined ? undefined : JSON.parse(wholeOf(body).toString());
  }

  /** An error in the variant's form; failed identifications are counted. */
  async refusal(error: ApiError, request: FastifyRequest, reply: FastifyReply): Promise<HttpResponse> {
    return this.error(request, await this.slowedDown(error, request, reply));
  }

  /**
   * Guessing of credentials is slowed down by the address that it comes from; the site that was named does not notice.
   * Returns the error to answer with.
   */
  async slowedDown(error: ApiError, request: FastifyRequest, reply: FastifyReply): Promise<ApiError> {
    if (error.kind !== 'unknown_credentials') return error;
    const now = this.state.now();
    const limit = await this.state.limits.countFailure(this.clientOf(request), now);
    if (limit.allowed) return error;
    reply.headers(retryAfterHeader(limit, now));
    return new ApiError(
      'rate_limited',
      'too many failed identifications from this address; try again later with the right credentials',
    );
  }

  /** The address that a request comes from. */
  clientOf({ raw, headers }: FastifyRequest): string {
    return this.#clientAddresses(raw.socket.remoteAddress, headers['x-forwarded-for']?.toString());
  }

  /** The picture of a published name where it is mirrored, else where the advertiser has it. */
  async picture(request: FastifyRequest, name: string): Promise<HttpResponse> {
    const snapshot = this.state.snapshot();
    if (snapshot === undefined) throw nothingPublished();
    const address = snapshot.pictures.get(name);
    if (address === undefined) throw new ApiError('nothing_found', 'no offer has a picture of this name');
    const redirect = pictureResponse(address, this.#variantAt(pathOf(request)), snapshot);
    const mirrored = await this.state.pictures?.find(name);
    return mirrored === undefined ? redirect : { ...mirroredResponse(mirrored, request.headers), instead: redirect };
  }

  /** An error in the form of the operation's variant, else of the variant that the path belongs to. */
  error(request: FastifyRequest | undefined, error: ApiError): HttpResponse {
    const asked = request?.asked;
    const variant = asked?.operation.variant ?? this.#variantAt(request === undefined ? '' : pathOf(request));
    return errorResponse(error, variant, asked === undefined ? this.state.snapshot() : asked.snapshot);
  }

  /** In place of a response that there is no room for, since too much waits for clients that do not take it. */
  overloaded(request: FastifyRequest): HttpResponse {
    const error = new ApiError(
      'unavailable',
      'too many answers are waiting for slow clients; Retry-After says in how many seconds to try again',
    );
    return withHeaders(this.error(request, error), { 'retry-after': String(retryWhenOverloadedSeconds) });
  }

  #variantAt(path: string): Variant {
    const base = /^\/([abc])(?:\/|$)/.exec(path)?.[1];
    if (base === 'a') return variantA;
    if (base === 'b') return variantB;
    if (base === 'c') return variantC;
    const candidates = operationsAt(path);
    return candidates.length === 0 ? this.#defaultVariant : this.#choose(candidates, undefined).variant;
  }
}

/** Validates a query whose schema follows from the site. Throws `ApiError`. */
async function validateByOperation(request: FastifyRequest): Promise<void> {
  const query = request.query as Query;
  const read = request.asked?.operation.querystring.safeParse(query);
  if (read?.error !== undefined) {
    const [mistake] = read.error.issues;
    throw parameterError(query, String(mistake?.path[0]), mistake?.message ?? '');
  }
  request.query = read?.data;
}

/** Error for a site that is paused or pending; `what` of it opens later. */
export function notOpen({ status }: Site, what: 'feed' | 'portal'): ApiError {
  return new ApiError(
    'site_pending',
    status === 'paused'
      ? `this site is paused; its ${what} opens again when the network ends the pause`
      : `this site is not approved yet; its ${what} opens with the approval`,
  );
}

function nothingPublished(): ApiError {
  return new ApiError('unavailable', 'nothing is published yet; try again in some minutes');
}
