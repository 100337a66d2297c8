import type { DataDirectory } from '../kit/config/data-directory.ts';
import { generate, usualSize } from '../demo/generate/generate.ts';
import { buildNetwork } from '../demo/generate/network/network.ts';
import { pullSources } from '../../pipelines/pull.ts';
import { isDemo, pulledDemoSources, startDemoNetworks } from '../demo/demo-networks.ts';
import { startDemoTraffic } from '../demo/demo-traffic.ts';
import { isDemoSite, startPostbackReceiver, type PostbackReceiver } from '../demo/postback-receiver.ts';
import { parseSettings, readSettingsText } from '../kit/config/settings.ts';
import { readSites } from '../kit/sites/sites.ts';
import type { CommandContext } from './context.ts';

/** Large enough to look like a network, small enough to be there in seconds. */
const demo = { clicks: 30_000, days: 3, seed: 1 };
/** Settings of a demo: clicks show as soon as they have landed. */
const demoSettings = { schedule: { refresh: { cron: '*/5 * * * *', watch: true } } };

/**
 * Three days of traffic up to now, late events, duplicates, rejects and a broken file among them. The catalogs of two
 * sources are still to be pulled.
 */
export async function fillWithDemo(data: DataDirectory, { terminal }: CommandContext): Promise<void> {
  terminal.logger.info({ folder: data.root }, 'there is no data directory yet: filling one with a demo network');
  const ownSettings = readOwnSettings(data);
  terminal.progress.start('generating clicks', demo.clicks);
  try {
    await generate(
      { ...demo, out: data.root, end: new Date(), pulled: pulledDemoSources, settings: demoSettings, ownSettings },
      (done) => terminal.progress.advance(done),
    );
  } finally {
    terminal.progress.finish();
  }
}

/** Settings that were put there before the demo, and stay. Throws `UsageError` where they cannot be used. */
function readOwnSettings(data: DataDirectory): object | undefined {
  const text = readSettingsText(data);
  if (text === undefined) return undefined;
  parseSettings(text, data.settingsFile);
  return JSON.parse(text) as object;
}

/** Secrets of the demo's sites. They follow from the seed, which everybody has, so they are none. */
export function publicSecrets(): ReadonlySet<string> {
  return new Set(buildNetwork(demo.seed, usualSize, Date.now()).sites.map(({ site_secret }) => site_secret));
}

/** Undefined where the data directory is of no demo. */
export function playNetworks(
  data: DataDirectory,
  { terminal: { logger } }: CommandContext,
): Promise<AsyncDisposable | undefined> {
  return startDemoNetworks(data, logger);
}

/** Users who follow links, and advertisers who report conversions; undefined where the data is of no demo. */
export function playTraffic(
  data: DataDirectory,
  { terminal: { logger } }: CommandContext,
  tracker: string,
): { stop(): void } | undefined {
  if (!isDemo(data)) return undefined;
  return startDemoTraffic({ data, network: buildNetwork(demo.seed, usualSize, Date.now()), tracker, logger });
}

/** Before the first refresh, so that it knows the offers that clicks name. */
export async function pullDemo(data: DataDirectory, { terminal }: CommandContext): Promise<void> {
  await pullSources({ data, terminal, names: pulledDemoSources });
}

/**
 * Receives what is sent to sites of a demo; undefined where there are none, so that nothing listens beside a real
 * network.
 */
export async function receivePostbacks(
  data: DataDirectory,
  { terminal: { logger } }: CommandContext,
): Promise<PostbackReceiver | undefined> {
  let known = readSites(data.sitesFile).sites;
  const sites = () => {
    try {
      known = readSites(data.sitesFile).sites;
    } catch {
      // A broken file leaves the last good one, as everywhere in the service.
    }
    return known;
  };
  if (!known.some(isDemoSite)) return undefined;
  const receiver = await startPostbackReceiver(sites, logger);
  logger.info({ port: receiver.port }, "the demo's publishers wait for postbacks on loopback");
  return receiver;
}
