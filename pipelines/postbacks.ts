import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { DataDirectory } from '../src/config/data-directory.ts';
import { readSettings } from '../src/config/settings.ts';
import { realEffects, type Effects } from '../src/files/effects.ts';
import { UsageError } from '../src/errors/errors.ts';
import { deliverDue, type DeliverySummary } from '../src/postbacks/pass/deliver-due.ts';
import { acquireDeliveryLock, DeliveryBusyError } from '../src/postbacks/store/delivery-lock.ts';
import { DeliveryQueue } from '../src/postbacks/store/delivery-queue.ts';
import { DeliveryStore } from '../src/postbacks/store/delivery-store.ts';
import type { Outcome } from '../src/postbacks/rules/outcome.ts';
import type { Postback } from '../src/postbacks/rules/postback.ts';
import { postbackRequest } from '../src/postbacks/http/postback-request.ts';
import type { PostbackSender } from '../src/postbacks/http/sender.ts';
import { readSites, type Site } from '../src/sites/sites.ts';
import { momentOfMilliseconds } from '../src/time/moment.ts';
import type { Console } from '../src/logging/progress.ts';

export interface DeliveryOptions {
  data: DataDirectory;
  console: Console;
  /** Of the command that delivers, for those who have to wait for it. */
  command: string;
  /** How long to wait for another pass; as configured where not given. */
  waitSeconds?: number;
}

/** One pass over the postbacks that are due. Throws `DeliveryBusyError` when another process goes on delivering. */
export async function deliverPostbacks(
  { data, console, command, waitSeconds }: DeliveryOptions,
  effects: Effects = realEffects,
): Promise<DeliverySummary> {
  const settings = readSettings(data);
  const { sites } = readSites(data.sitesFile);
  const lock = await acquireDeliveryLock(data, {
    command,
    waitSeconds: waitSeconds ?? settings.lock_wait_seconds,
    onWaiting: (message) => console.logger.info(message),
  });
  try {
    const store = DeliveryStore.open(data);
    const sender = await postbackSender(effects);
    try {
      return await deliverDue({ ...console, store, sites, sender, now: () => effects.now() });
    } finally {
      await sender.close();
      store.close();
    }
  } finally {
    lock.release();
  }
}

/**
 * The pass at the end of a refresh: null where there has never been a postback, and where another process delivers
 * already, which delivers what is new at its next pass.
 */
export async function deliverAfterRefresh(
  data: DataDirectory,
  console: Console,
  effects?: Effects,
): Promise<DeliverySummary | null> {
  if (!existsSync(data.deliveriesFile)) return null;
  try {
    return await deliverPostbacks({ data, console, command: 'run refresh', waitSeconds: 0 }, effects);
  } catch (error) {
    if (!(error instanceof DeliveryBusyError)) throw error;
    console.logger.info('another process delivers postbacks; this run leaves that to it');
    return null;
  }
}

/** What a postback waits for whose click has an earlier event under way. */
export const earlierEvent = 'an earlier event of its click';

/** What a pass would deliver now, by site. */
export function duePostbacks(
  data: DataDirectory,
  effects: Effects = realEffects,
): { site_key: string; due: number; waits_for: string }[] {
  const sites = new Map(readSites(data.sitesFile).sites.map((site) => [site.site_key, site]));
  const store = DeliveryStore.open(data);
  try {
    const now = effects.now();
    const queue = new DeliveryQueue(store.database);
    const circuits = queue.openCircuits();
    return queue.due(now).map(({ siteKey, due, ready }) => {
      const pausedUntil = circuits.get(siteKey)?.pausedUntil ?? now;
      return {
        site_key: siteKey,
        due,
        waits_for: waitsFor(sites.get(siteKey), pausedUntil > now ? pausedUntil : undefined, ready > 0),
      };
    });
  } finally {
    store.close();
  }
}

function waitsFor(site: Site | undefined, pausedUntil: number | undefined, isReady: boolean): string {
  if (site === undefined) return 'a site in sites.json';
  if (site.postback === undefined) return 'a postback address';
  if (pausedUntil !== undefined) return momentOfMilliseconds(pausedUntil);
  return isReady ? '' : earlierEvent;
}

/** Sends a signed postback of reward 0 for a click that does not exist, which is written down nowhere. */
export async function sendTestPostback(
  data: DataDirectory,
  siteKey: string,
  effects: Effects = realEffects,
): Promise<Outcome & { postback: Postback }> {
  const site = readSites(data.sitesFile).sites.find(({ site_key }) => site_key === siteKey);
  if (site === undefined)
    throw new UsageError(
      `there is no site ${siteKey} in ${data.sitesFile}; \`offerline sites list\` shows those there are`,
    );
  if (site.postback === undefined)
    throw new UsageError(
      `site ${siteKey} has no postback address: give it one in ${data.sitesFile}, as "postback": {"url": "https://…"}`,
    );
  const id = `test-${randomUUID()}`;
  const postback: Postback = { webhookId: id, event: 'credit', siteKey, userId: 'test', clickId: id, reward: '0' };
  const sender = await postbackSender(effects);
  try {
    return { ...(await sender.send(postbackRequest(site, postback, effects.now()))), postback };
  } finally {
    await sender.close();
  }
}

/**
 * Sends for real. The environment's switches are for tests and for receivers in private networks, and for a demo's
 * receiver.
 */
async function postbackSender(effects: Effects = realEffects): Promise<PostbackSender> {
  // Loaded where something is sent: most runs send nothing, and each would start later for it.
  const { createSender } = await import('../src/postbacks/http/sender.ts');
  const { receiverPort } = await import('../src/postbacks/http/example-route.ts');
  return createSender({
    allowPrivate: process.env['OFFERLINE_ALLOW_PRIVATE_POSTBACKS'] === '1',
    exampleReceiverPort: receiverPort(process.env),
    now: () => effects.now(),
  });
}
