import { isIPv4 } from 'node:net';
import { platform } from 'node:os';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readDocument } from '../kit/config/json-document.ts';
import { readTextFile } from '../kit/config/regular-file.ts';
import type { Network } from './generate/network/network.ts';
import { userAgents } from './generate/network/offer-texts.ts';
import { Random } from './generate/network/random.ts';
import type { Logger } from '../kit/logging/log.ts';
import { readRoutes, type Route } from '../pipeline/routes/routes-file.ts';
import { DemoAdvertisers } from './demo-advertisers.ts';

const planSchema = z.strictObject({
  clicks_per_second: z.number().min(0).max(100).default(2),
  /** From a click to its conversion, at least and at most. */
  conversion_after_seconds: z
    .tuple([z.number().min(0.01), z.number().max(86_400)])
    .refine(([shortest, longest]) => shortest <= longest, { error: 'has the longer time first' })
    .default([30, 900]),
});
type TrafficPlan = z.output<typeof planSchema>;

export interface TrafficOptions {
  data: DataDirectory;
  /** Network whose offers and sites are visited, as popular as they are. */
  network: Network;
  /** Such as `http://127.0.0.1:8082`. */
  tracker: string;
  logger: Logger;
  random?: Random;
}

/** Intervals of looking for new routes, and of logging what came. Milliseconds. */
const routesMilliseconds = 2000;
const logMilliseconds = 60_000;
/** Number of users, who come back as in the traffic that is generated. */
const users = 3770;

/**
 * The live part of a demo: users of its sites follow links to the tracker that runs, a few a second, and some of them
 * convert. Throws `UsageError` where its plan cannot be used.
 */
export function startDemoTraffic(options: TrafficOptions): { stop(): void } {
  const { data, logger } = options;
  const { clicks_per_second: perSecond, conversion_after_seconds: after } = readPlan(data);
  const traffic = new DemoTraffic({ random: new Random(Date.now() >>> 0), ...options, after });
  if (perSecond === 0) return traffic;
  const failed = (error: unknown) => logger.debug({ err: error }, "a click of the demo's users came to nothing");
  traffic.every(1000 / perSecond, () => void traffic.visit().catch(failed));
  traffic.every(routesMilliseconds, () => void traffic.readRoutes());
  traffic.every(logMilliseconds, () => traffic.log());
  return traffic;
}

class DemoTraffic {
  readonly #options: Required<TrafficOptions>;
  readonly #advertisers: DemoAdvertisers;
  readonly #timers: NodeJS.Timeout[] = [];
  #routes: ReadonlyMap<string, Route> = new Map();
  #clicks = 0;
  #refused = 0;

  constructor({ after, ...options }: Required<TrafficOptions> & { after: readonly [number, number] }) {
    this.#options = options;
    const { data, tracker, random } = options;
    this.#advertisers = new DemoAdvertisers({ data, tracker, random, after });
  }

  every(milliseconds: number, task: () => void): void {
    this.#timers.push(setInterval(task, milliseconds).unref());
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#advertisers.stop();
  }

  /** Waits while there are no routes yet. */
  async readRoutes(): Promise<void> {
    try {
      const { offers } = await readRoutes(this.#options.data.currentRoutes);
      this.#routes = new Map([...offers.values()].map((route) => [nameOf(route), route]));
    } catch {
      // Known routes stay, as in the tracker.
    }
  }

  log(): void {
    const counts = { clicks: this.#clicks, refused: this.#refused, ...this.#advertisers.counts };
    this.#options.logger.info(counts, "the demo's users and advertisers so far");
  }

  async visit(): Promise<void> {
    const { network, tracker, random } = this.#options;
    const { record, conversionRate, momentum } = network.shownOffers.pick(random);
    const route = this.#routes.get(nameOf(record));
    if (route?.status !== 'active') return;
    const draw = random.next();
    const user = Math.floor(draw * draw * users);
    const site = network.visitedSites.pick(random).site_key;
    const device = random.pick(record.devices.length > 0 ? record.devices : (['android', 'ios', 'desktop'] as const));
    const path = `/redirect/manual-offer/${route.offer_id}/user/u${user.toString(36)}/site/${encodeURIComponent(site)}`;
    const location = await follow(tracker + path, { user, agent: random.pick(userAgents[device]) });
    // All advertisers have one parameter for the click's id; an address without it reports nothing.
    const clickId = location === undefined ? null : new URL(location).searchParams.get('click');
    if (clickId === null) {
      this.#refused++;
      return;
    }
    this.#clicks++;
    if (!random.chance(conversionRate * momentum)) return;
    const events = route.events.map(({ event_id }) => event_id);
    this.#advertisers.expect({ source: route.source, clickId, events });
  }
}

/**
 * Follows a link from an address of the user's own, as one may have sixty clicks a minute on a site. Gives where it
 * leads.
 */
async function follow(link: string, { user, agent }: { user: number; agent: string }): Promise<string | undefined> {
  // Linux takes all of 127.0.0.0/8 for this machine. Elsewhere users share the one address there is.
  const hasOwn = platform() === 'linux' && isIPv4(new URL(link).hostname);
  const dispatcher = new Agent(hasOwn ? { localAddress: `127.1.${user >> 8}.${user & 255}` } : {});
  try {
    const { body, headers } = await request(link, { dispatcher, headers: { 'user-agent': agent } });
    await body.dump();
    return typeof headers['location'] === 'string' ? headers['location'] : undefined;
  } finally {
    await dispatcher.close();
  }
}

function nameOf({ source, external_id }: { source: string; external_id: string }): string {
  return JSON.stringify([source, external_id]);
}

function readPlan({ demoTrafficFile }: DataDirectory): TrafficPlan {
  let text: string;
  try {
    text = readTextFile(demoTrafficFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return planSchema.parse({});
    throw error;
  }
  return readDocument(planSchema, text, demoTrafficFile);
}
