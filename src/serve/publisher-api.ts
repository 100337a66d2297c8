import type { Settings } from '../config/settings.ts';
import type { Site } from '../sites/sites.ts';
import { refusalAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Endpoint } from './endpoint.ts';
import type { Links } from './links.ts';
import type { LiveSites } from './live-sites.ts';
import type { PublishedSnapshot } from './published-snapshot.ts';
import type { Query } from './query.ts';
import { Refusal } from './refusal.ts';
import type { Variant } from './variant.ts';
import { offersB, topConverting } from './variant-b/pages.ts';
import { variantB } from './variant-b/variant.ts';
import { offersC } from './variant-c/offer-list.ts';
import { reports } from './variant-c/reports.ts';
import { status } from './variant-c/status.ts';
import { variantC } from './variant-c/variant.ts';

/** Where an endpoint depends on who asks; undefined stands for nobody identified. */
type EndpointChoice = (site: Site | undefined) => Endpoint;

/** What answers need from the running service, as it is at the moment of the request. */
export interface ServiceState {
  sites: LiveSites;
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

  constructor(state: ServiceState, settings: Pick<Settings, 'default_variant'>) {
    const offersOf = { B: offersB, C: offersC };
    this.#state = state;
    this.#defaultVariant = settings.default_variant === 'B' ? variantB : variantC;
    this.#endpoints = new Map<string, EndpointChoice>([
      ['/b/api/v1/offers', () => offersB],
      ['/b/api/v1/offers/top-converting', () => topConverting],
      ['/c/api/v1/offers', () => offersC],
      ['/c/api/v1/status', () => status],
      ['/c/api/v1/reports', () => reports],
      // Variant A has no endpoint of this name: its sites get the default one.
      ['/api/v1/offers', (site) => offersOf[site === undefined || site.variant === 'A' ? settings.default_variant : site.variant]],
      ['/api/v1/offers/top-converting', () => topConverting],
      ['/api/v1/status', () => status],
      ['/api/v1/reports', () => reports],
    ]);
  }

  get paths(): string[] {
    return [...this.#endpoints.keys()];
  }

  /** Answers a request for one of the paths; what is wrong with the request is an answer too. */
  answer(path: string, query: Query): Answer {
    const choose = this.#endpoints.get(path);
    if (choose === undefined) return this.refuse(path, new Refusal('unknown_path', 'there is nothing at this address'));
    // Read once: a snapshot that arrives meanwhile must not mix into this answer.
    const snapshot = this.#state.snapshot();
    let { variant } = choose(undefined);
    try {
      const site = this.#state.sites.identify(query);
      const endpoint = choose(site);
      variant = endpoint.variant;
      if (site.status !== 'active') throw new Refusal('site_pending', 'this site is not approved yet; its feed opens with the approval');
      if (snapshot === undefined) throw new Refusal('no_snapshot', 'nothing is published yet; try again in some minutes');
      // Rate limits come in here: after the site is known and approved, before its parameters are looked at.
      const feed = snapshot.feedOf(site, this.#state.links());
      return endpoint.answer({ site, query, snapshot, feed, now: this.#state.now });
    } catch (error) {
      if (error instanceof Refusal) return refusalAnswer(error, variant, snapshot);
      throw error;
    }
  }

  /** A refusal in the form of the variant that the path belongs to. */
  refuse(path: string, refusal: Refusal): Answer {
    return refusalAnswer(refusal, this.#variantAt(path), this.#state.snapshot());
  }

  #variantAt(path: string): Variant {
    if (/^\/b(\/|$)/.test(path)) return variantB;
    if (/^\/c(\/|$)/.test(path)) return variantC;
    return this.#endpoints.get(path)?.(undefined).variant ?? this.#defaultVariant;
  }
}
