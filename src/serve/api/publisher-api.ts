import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../config/settings.ts';
import type { Site } from '../../sites/sites.ts';
import { refusalAnswer, withHeaders } from '../http/response.ts';
import type { Answer } from '../http/response.ts';
import { clientAddresses } from '../access/client-address.ts';
import type { ClientAddresses } from '../access/client-address.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { HeldPages } from '../pages/held-pages.ts';
import type { Links } from '../offers/links.ts';
import type { LiveSites } from '../access/site-registry.ts';
import type { Gauge } from '../http/metrics.ts';
import { pictureAnswer } from './pictures.ts';
import { PreparedPage } from '../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import type { Query } from '../http/query.ts';
import { limitHeaders, retryAfterHeader } from '../access/rate-limits.ts';
import { Refusal } from '../http/errors.ts';
import type { RequestLimits } from '../access/request-limits.ts';
import type { Variant } from '../http/variant.ts';
import { clickLookup } from '../variant-a/click-lookup.ts';
import { offersA } from '../variant-a/offers.ts';
import { variantA } from '../variant-a/variant.ts';
import { offersB, topConverting } from '../variant-b/pages.ts';
import { variantB } from '../variant-b/variant.ts';
import { offersC } from '../variant-c/offer-list.ts';
import { reports } from '../variant-c/reports.ts';
import { status } from '../variant-c/status.ts';
import { variantC } from '../variant-c/variant.ts';

/** Clients that read at all take what they have asked for within some seconds. */
const retryWhenOverloaded = 10;

/** Where an endpoint depends on who asks; undefined stands for nobody identified. */
type EndpointChoice = (site: Site | undefined) => Endpoint;

/** What an answer depends on of a request, beside its path. */
export interface PublisherRequest {
  query: Query;
  headers: IncomingHttpHeaders;
  /** Of the connection's other end. */
  remoteAddress: string | undefined;
}

/** What answers need from the running service, as it is at the moment of the request. */
export interface ServiceState {
  sites: LiveSites;
  limits: RequestLimits;
  snapshot: () => PublishedSnapshot | undefined;
  links: () => Links;
  /** Wall clock, milliseconds since the epoch. */
  now: () => number;
}

/** The publishers' endpoints by path: each variant under its own base address, all of them on the bare host. */
export class PublisherApi {
  readonly #state: ServiceState;
  readonly #defaultVariant: Variant;
  readonly #endpoints: ReadonlyMap<string, EndpointChoice>;
  readonly #clientAddresses: ClientAddresses;
  readonly #held = new HeldPages();

  constructor(state: ServiceState, settings: Pick<Settings, 'default_variant' | 'trusted_proxies'>) {
    const offersOf = { B: offersB, C: offersC };
    this.#state = state;
    this.#clientAddresses = clientAddresses(settings.trusted_proxies);
    this.#defaultVariant = settings.default_variant === 'B' ? variantB : variantC;
    this.#endpoints = new Map<string, EndpointChoice>([
      ['/a/api/offers', () => offersA],
      ['/a/api/click-lookup', () => clickLookup],
      ['/b/api/v1/offers', () => offersB],
      ['/b/api/v1/offers/top-converting', () => topConverting],
      ['/c/api/v1/offers', () => offersC],
      ['/c/api/v1/status', () => status],
      ['/c/api/v1/reports', () => reports],
      ['/api/offers', () => offersA],
      ['/api/click-lookup', () => clickLookup],
      // Variant A has no endpoint of this name: its sites get the default one.
      [
        '/api/v1/offers',
        (site) => offersOf[site === undefined || site.variant === 'A' ? settings.default_variant : site.variant],
      ],
      ['/api/v1/offers/top-converting', () => topConverting],
      ['/api/v1/status', () => status],
      ['/api/v1/reports', () => reports],
    ]);
  }

  get gauges(): Gauge[] {
    return this.#held.gauges;
  }

  get paths(): string[] {
    return [...this.#endpoints.keys()];
  }

  /** Answers a request for one of the paths; what is wrong with the request is an answer too. */
  async answer(path: string, request: PublisherRequest): Promise<Answer> {
    const choose = this.#endpoints.get(path);
    if (choose === undefined) return this.refuse(path, new Refusal('unknown_path', 'there is nothing at this address'));
    // Read once: a snapshot that arrives meanwhile must not mix into this answer.
    const snapshot = this.#state.snapshot();
    const now = this.#state.now();
    const { identify, variant: assumed } = choose(undefined);
    let variant = assumed;
    let more: Readonly<Record<string, string>> = {};
    try {
      const site = identify(this.#state.sites, request.query);
      const endpoint = choose(site);
      variant = endpoint.variant;
      const isApproved = site.status === 'active';
      const reading = await this.#state.limits.read(
        endpoint.limit,
        site,
        () => this.#clientOf(request),
        now,
        isApproved && snapshot !== undefined,
      );
      if (variant.showsLimits) more = limitHeaders(reading);
      if (!isApproved)
        throw new Refusal('site_pending', 'this site is not approved yet; its feed opens with the approval');
      if (snapshot === undefined) throw nothingPublished();
      if (endpoint.limit.counted && !reading.allowed) {
        more = { ...limitHeaders(reading), ...retryAfterHeader(reading, now) };
        throw new Refusal(
          'rate_limited',
          `this site has used up its ${reading.limit} requests; Retry-After says in how many seconds there is room for the next`,
        );
      }
      const feed = snapshot.feedOf(site, this.#state.links());
      const answer = await endpoint.answer({
        site,
        query: request.query,
        snapshot,
        feed,
        held: this.#held,
        takesCoding: request.headers['accept-encoding'] !== undefined,
        now,
      });
      // Only here, after all checks: who may not have the page is not told either that it is unchanged.
      if (!(answer instanceof PreparedPage)) return withHeaders(answer, more);
      return { ...(await answer.answer(request.headers)), more, release: answer.release, variant };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.kind === 'unknown_credentials') return this.#refuseStranger(error, variant, snapshot, request, now);
      return withHeaders(refusalAnswer(error, variant, snapshot), more);
    }
  }

  /** Guessing of credentials is slowed down by the address that it comes from; the site that was named does not notice. */
  async #refuseStranger(
    refusal: Refusal,
    variant: Variant,
    snapshot: PublishedSnapshot | undefined,
    request: PublisherRequest,
    now: number,
  ): Promise<Answer> {
    const reading = await this.#state.limits.failed(this.#clientOf(request), now);
    if (reading.allowed) return refusalAnswer(refusal, variant, snapshot);
    const tooMany = new Refusal(
      'rate_limited',
      'too many failed identifications from this address; try again later with the right credentials',
    );
    return withHeaders(refusalAnswer(tooMany, variant, snapshot), retryAfterHeader(reading, now));
  }

  #clientOf({ remoteAddress, headers }: PublisherRequest): string {
    return this.#clientAddresses(remoteAddress, headers['x-forwarded-for']?.toString());
  }

  /** Where the advertiser has the picture of a published name. */
  picture(path: string, name: string): Answer {
    const snapshot = this.#state.snapshot();
    if (snapshot === undefined) return this.refuse(path, nothingPublished());
    const address = snapshot.pictures.get(name);
    if (address === undefined)
      return this.refuse(path, new Refusal('nothing_found', 'no offer has a picture of this name'));
    return pictureAnswer(address, this.#variantAt(path), snapshot);
  }

  /** A refusal in the form of the variant that the path belongs to. */
  refuse(path: string, refusal: Refusal): Answer {
    return refusalAnswer(refusal, this.#variantAt(path), this.#state.snapshot());
  }

  /** In place of an answer that there is no room for, since too much waits for clients that do not take it. */
  overloaded(path: string, { release, variant = this.#variantAt(path), more }: Answer): Answer {
    release?.();
    const refusal = new Refusal(
      'unavailable',
      'too many answers are waiting for slow clients; Retry-After says in how many seconds to try again',
    );
    return withHeaders(refusalAnswer(refusal, variant, this.#state.snapshot()), {
      ...more,
      'retry-after': String(retryWhenOverloaded),
    });
  }

  #variantAt(path: string): Variant {
    if (/^\/a(\/|$)/.test(path)) return variantA;
    if (/^\/b(\/|$)/.test(path)) return variantB;
    if (/^\/c(\/|$)/.test(path)) return variantC;
    return this.#endpoints.get(path)?.(undefined).variant ?? this.#defaultVariant;
  }
}

function nothingPublished(): Refusal {
  return new Refusal('unavailable', 'nothing is published yet; try again in some minutes');
}
