import type { IncomingHttpHeaders } from 'node:http';
import type { TrackerSettings } from '../../kit/config/tracker-settings.ts';
import { isOffered } from '../../kit/sites/offer-rules.ts';
import type { Site } from '../../kit/sites/sites.ts';
import { isOlder, type Agent, type Agents } from '../agents/agents.ts';
import type { Countries } from '../agents/countries.ts';
import { isPrefetch } from '../agents/prefetch.ts';
import { NotRecordedError, type RowSink } from '../logs/row-log.ts';
import { fillDestination, readDestination, type Destination } from '../../pipeline/routes/destination.ts';
import type { Route } from '../../pipeline/routes/routes-file.ts';
import { fallbackLocation, leadsToFallback, type ClickAnswer, type ClickOutcome } from './click-answer.ts';
import { ClickDedup, clickKey, type FirstClick } from './click-dedup.ts';
import type { ClickIds } from './click-id.ts';
import { readLink, type FollowedLink } from './click-request.ts';
import { ClickRateLimit } from './click-rate-limit.ts';
import { clickLine, type Click } from './click-row.ts';
import type { DailyCounts } from './daily-counts.ts';
import { macroValue } from './macro-values.ts';

/** A request for a link of ours. */
export interface ClickRequest {
  method: string;
  /** Path and query, as they came. */
  url: string;
  headers: IncomingHttpHeaders;
  /** The client's address, in full. */
  address: string;
}

export interface ClickHandlerParts {
  settings: TrackerSettings;
  site(key: string): Site | undefined;
  /** False until routes are known. */
  hasRoutes(): boolean;
  route(offerId: number): Route | undefined;
  agents: Agents;
  countries: Countries;
  counts: DailyCounts;
  ids: ClickIds;
  /** Makes the hashes that stand for users. */
  userKey: Buffer;
  sink: RowSink;
  now(): number;
  /** Called for a recorded click whose country or device is not known. */
  onUnknown?(what: 'geo' | 'agent'): void;
}

/** RFC 9110 asks servers to accept 8,000. Bytes. */
const maxUrl = 8 * 1024;

const unrecorded = {
  outcome: 'not_recorded',
  status: 503,
  message: 'the click could not be recorded',
  retryAfter: 1,
} as const;
const gone = { outcome: 'offer_gone', status: 410, message: 'this offer is no longer there' } as const;

/** Answers clicks: checks in their order, of which the first that fails answers. */
export class ClickHandler {
  readonly #parts: ClickHandlerParts;
  readonly #dedup = new ClickDedup();
  readonly #rateLimit = new ClickRateLimit();
  readonly #destinations = new WeakMap<Route, Destination | null>();

  constructor(parts: ClickHandlerParts) {
    this.#parts = parts;
  }

  /** Answers at once, unless the answer waits for the disk. Rejects only where the program fails. */
  answer(request: ClickRequest): ClickAnswer | Promise<ClickAnswer> {
    const { method, url } = request;
    if (method !== 'GET' && method !== 'HEAD')
      return { outcome: 'wrong_method', status: 405, message: 'links are followed by GET', allow: 'GET, HEAD' };
    if (url.length > maxUrl) return { outcome: 'too_long', status: 414, message: 'the address is too long' };
    const link = readLink(url);
    if ('message' in link) return { outcome: link.status === 404 ? 'not_found' : 'invalid_parameter', ...link };
    const site = this.#parts.site(link.siteKey);
    if (site === undefined) return { outcome: 'unknown_site', status: 404, message: 'there is no such site' };
    if (site.status !== 'active')
      return {
        outcome: 'site_pending',
        status: 403,
        message: site.status === 'paused' ? 'this site is paused' : 'this site is not approved yet',
      };
    // Without routes no offer is known.
    if (!this.#parts.hasRoutes()) return unrecorded;
    const route = this.#parts.route(link.offerId);
    if (route === undefined) return { outcome: 'unknown_offer', status: 404, message: 'there is no such offer' };
    if (site.offers !== undefined && !isOffered(site.offers, { ...route, id: route.offer_id }))
      return { outcome: 'not_offered', status: 403, message: 'this site does not have this offer' };
    const answer = this.#answerForOffer(request, link, site, route);
    if (answer instanceof Promise || !leadsToFallback(answer.outcome)) return answer;
    const fallback = site.fallback_url ?? this.#parts.settings.fallback_url;
    if (fallback === undefined) return answer;
    return { outcome: answer.outcome, status: 302, location: fallbackLocation(fallback, answer.outcome, link.offerId) };
  }

  #answerForOffer(
    request: ClickRequest,
    link: FollowedLink,
    site: Site,
    route: Route,
  ): ClickAnswer | Promise<ClickAnswer> {
    const { method, headers, address } = request;
    const destination = route.status === 'active' ? this.#destinationOf(route) : null;
    if (destination === null) return gone;
    if (isPrefetch(headers))
      return { outcome: 'prefetch', status: 503, message: 'links are followed when somebody clicks' };
    const agent = this.#parts.agents.read(headers['user-agent'] ?? '');
    if (method === 'HEAD' || agent.isBot) return { outcome: 'bot', status: 204 };
    const country = this.#parts.countries.countryOf(address);
    const unmet = unmetTarget(route, agent, country);
    if (unmet !== undefined) return unmet;

    const now = this.#parts.now();
    const key = clickKey({ ...link, address, userAgent: agent.text });
    const first = this.#dedup.find(key, now);
    if (first !== undefined) return repeat(first);
    const wait = this.#rateLimit.count(site.site_key, address, now);
    if (wait !== undefined)
      return {
        outcome: 'flood',
        status: 429,
        message: 'too many clicks from one address',
        retryAfter: Math.ceil(wait / 1000),
      };
    const full = this.#parts.counts.reserve(route, now);
    if (full !== undefined) return { outcome: full, status: 403, message: 'daily cap reached' };

    const clickId = this.#parts.ids.mint(link.offerId, now);
    return this.#record({ clickId, link, agent, country, address, at: now }, key, route, destination);
  }

  /** Redirects the click once it is on the disk. */
  async #record(click: Click, key: string, route: Route, destination: Destination): Promise<ClickAnswer> {
    const { settings, sink, userKey, counts } = this.#parts;
    const passed = settings.sources[route.source]?.pass ?? [];
    const location = fillDestination(destination, macroValue(click, route, passed, userKey));
    const recorded = sink.append(clickLine(click, settings.ip));
    this.#dedup.add(key, { at: click.at, location, recorded });
    try {
      await recorded;
    } catch (error) {
      counts.giveBack(click.link.offerId, click.at);
      return notRecorded(error);
    }
    if (click.country === '') this.#parts.onUnknown?.('geo');
    if (click.agent.device === undefined) this.#parts.onUnknown?.('agent');
    return { outcome: 'click', status: 302, location };
  }

  #destinationOf(route: Route): Destination | null {
    let destination = this.#destinations.get(route);
    if (destination === undefined) {
      const settings = this.#parts.settings.sources[route.source];
      const read = route.destination_url === null ? null : readDestination(route.destination_url, settings);
      destination = read === null || 'mistake' in read ? null : read;
      this.#destinations.set(route, destination);
    }
    return destination;
  }
}

/** Waits until the first one is recorded, whose click it is. */
async function repeat({ location, recorded }: FirstClick): Promise<ClickAnswer> {
  try {
    await recorded;
    return { outcome: 'repeat', status: 302, location };
  } catch (error) {
    return notRecorded(error);
  }
}

function notRecorded(error: unknown): ClickAnswer {
  if (!(error instanceof NotRecordedError)) throw error;
  return unrecorded;
}

/** The part of an offer's targeting that a click does not meet; what is unknown of the click meets it. */
function unmetTarget(route: Route, agent: Agent, country: string): ClickAnswer | undefined {
  const { countries, devices, android_min_os, ios_min_os } = route;
  if (country !== '' && countries.length > 0 && !countries.includes(country)) return refusedFor('country');
  const { device, mayBe, version } = agent;
  if (device === undefined) return undefined;
  const isMeant = devices.length === 0 || devices.includes(device) || (mayBe !== undefined && devices.includes(mayBe));
  if (!isMeant) return refusedFor('device');
  const lowest = device === 'android' ? android_min_os : device === 'ios' ? ios_min_os : null;
  return lowest !== null && isOlder(version, lowest) ? refusedFor('os_version') : undefined;
}

function refusedFor(outcome: ClickOutcome & ('country' | 'device' | 'os_version')): ClickAnswer {
  return { outcome, status: 403, message: `this offer is not for this ${outcome.replace('_', ' ')}` };
}
