import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { readSettings } from '../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import { UsageError } from '../src/kit/errors/errors.ts';
import { hasStore, isShared, openStore } from '../src/postbacks/open-store.ts';
import { deliverDue, type DeliverySummary } from '../src/postbacks/pass/deliver-due.ts';
import { acquireDeliveryLock, DeliveryBusyError } from '../src/postbacks/store/delivery-lock.ts';
import type { TestOutcome } from '../src/postbacks/http/test-postback.ts';
import { readSites, type Site } from '../src/kit/sites/sites.ts';
import { holdsLease, writerEpochVariable } from '../src/pipeline/runs/held-lease.ts';
import { withNotedOutcome } from '../src/pipeline/runs/pipeline-outcomes.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';

interface DeliveryOptions {
  data: DataDirectory;
  terminal: Terminal;
  /** Command that delivers, shown to processes that wait for it. */
  command: string;
  /** Time to wait for another pass; by default as configured. */
  waitSeconds?: number;
  /** Aborted when the pass is asked to end: what is under way ends and is recorded, the rest is left. */
  stop?: AbortSignal | undefined;
}

/**
 * Makes one pass over the postbacks that are due. Throws `DeliveryBusyError` where the store allows one pass at a time
 * and another process keeps delivering.
 */
export function deliverPostbacks(options: DeliveryOptions, effects: Effects = realEffects): Promise<DeliverySummary> {
  const { data, terminal } = options;
  const noting = { data, effects, logger: terminal.logger };
  return withNotedOutcome(noting, 'postbacks', () => deliver(options, effects), options.stop);
}

async function deliver(
  { data, terminal, command, waitSeconds, stop }: DeliveryOptions,
  effects: Effects,
): Promise<DeliverySummary> {
  const settings = readSettings(data);
  const lock = isShared(settings)
    ? undefined
    : await acquireDeliveryLock(data, {
        command,
        waitSeconds: waitSeconds ?? settings.lock_wait_seconds,
        onWaiting: (message) => terminal.logger.info(message),
      });
  try {
    // After the wait, in which a site may have got another address.
    const { sites } = readSites(data.sitesFile);
    const store = await openStore(data, settings);
    // Loaded here: most runs send nothing, and would start later for it.
    const { postbackSender } = await import('../src/postbacks/http/real-sender.ts');
    const sender = postbackSender(effects);
    try {
      const isWriter = writerCheck(data);
      const mayGoOn = () => stop?.aborted !== true && isWriter?.() !== false;
      return await deliverDue({ ...terminal, store, sites, sender, mayGoOn, now: () => effects.now() });
    } finally {
      await sender.close();
      await store.close();
    }
  } finally {
    lock?.release();
  }
}

/** Check of whether a schedule with standbys still is the writer; undefined for a process without such a schedule. */
function writerCheck(data: DataDirectory): (() => boolean) | undefined {
  const epoch = process.env[writerEpochVariable];
  return epoch === undefined ? undefined : () => holdsLease(data, Number(epoch));
}

/**
 * Makes the pass at the end of a refresh. Returns null where there never was a postback, and where another process is
 * delivering, whose next pass sends new postbacks as well.
 */
export async function deliverAfterRefresh(
  data: DataDirectory,
  terminal: Terminal,
  effects?: Effects,
  stop?: AbortSignal,
): Promise<DeliverySummary | null> {
  if (!hasStore(data, readSettings(data))) return null;
  try {
    return await deliverPostbacks({ data, terminal, command: 'run refresh', waitSeconds: 0, stop }, effects);
  } catch (error) {
    if (!(error instanceof DeliveryBusyError)) throw error;
    terminal.logger.info('another process is delivering postbacks; leaving them to it');
    return null;
  }
}

/** Returns the target of a test postback to a site, without parts of its address that may be secret. */
export function planTestPostback(
  data: DataDirectory,
  siteKey: string,
): { site_key: string; site_status: string; method: string; host: string } {
  const { site_key, status, postback } = siteToTest(data, siteKey);
  return { site_key, site_status: status, method: postback.method, host: new URL(postback.url).host };
}

/** Returns a site with a postback address. Throws `UsageError` without one. */
function siteToTest(data: DataDirectory, siteKey: string): Site & { postback: NonNullable<Site['postback']> } {
  const site = readSites(data.sitesFile).sites.find(({ site_key }) => site_key === siteKey);
  if (site === undefined)
    throw new UsageError(
      `there is no site ${siteKey} in ${data.sitesFile}; \`offerline sites list\` shows those there are`,
    );
  const { postback } = site;
  if (postback === undefined)
    throw new UsageError(
      `site ${siteKey} has no postback address in ${data.sitesFile}: \`offerline sites set ${siteKey} --postback https://…\` gives it one`,
    );
  return { ...site, postback };
}

/** Sends a signed test postback to a site of `sites.json`. Throws `UsageError` where it has no address. */
export async function sendTestPostback(data: DataDirectory, siteKey: string): Promise<TestOutcome> {
  const site = siteToTest(data, siteKey);
  const { sendTest } = await import('../src/postbacks/http/test-postback.ts');
  return sendTest(site, realEffects);
}
