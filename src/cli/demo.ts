import type { DataDirectory } from '../config/data-directory.ts';
import { generate } from '../generate/generate.ts';
import { isDemoSite, startPostbackReceiver, type PostbackReceiver } from '../demo/postback-receiver.ts';
import { readSites } from '../sites/sites.ts';
import type { CommandContext } from './context.ts';

/** Large enough to look like a network, small enough to be there in seconds. */
const demo = { clicks: 30_000, days: 3, seed: 1 };

/** Three days of traffic up to now, late events, duplicates, rejects and a broken file among them. */
export async function fillWithDemo(data: DataDirectory, { console }: CommandContext): Promise<void> {
  console.logger.info({ folder: data.root }, 'there is no data directory yet: filling one with a demo network');
  console.progress.start('generating clicks', demo.clicks);
  try {
    await generate({ ...demo, out: data.root, end: new Date() }, (done) => console.progress.advance(done));
  } finally {
    console.progress.finish();
  }
}

/**
 * Receives what is sent to sites of a demo; undefined where there are none, so that nothing listens beside a real
 * network.
 */
export async function receivePostbacks(
  data: DataDirectory,
  { console: { logger } }: CommandContext,
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

/** Commands to copy. Sites are named with their keys; their secrets stay in the file. */
export function whatToTry(data: DataDirectory, address: string): string {
  const sites = readSites(data.sitesFile).sites.filter(({ status }) => status === 'active');
  const key = (variant: string) => sites.find((site) => site.variant === variant)?.site_key ?? '<site_key>';
  const secret = '<site_secret>';
  return [
    `offerline serves ${address}`,
    '',
    `Secrets are in ${data.sitesFile}. Try:`,
    `  curl '${address}/readyz'`,
    `  curl '${address}/c/api/v1/offers?site_key=${key('C')}&site_secret=${secret}&country=DE&limit=3'`,
    `  curl '${address}/c/api/v1/reports?site_key=${key('C')}&site_secret=${secret}'`,
    `  curl '${address}/b/api/v1/offers/top-converting?site_key=${key('B')}&site_secret=${secret}&take=5'`,
    `  npm run -s offerline -- status`,
    `  npm run -s offerline -- postbacks list --limit 10`,
    `  npm run -s offerline -- sql "FROM offer_stats_2d ORDER BY rank LIMIT 10"`,
    '',
    'Land more files under landing/ and they are served within five minutes. Ctrl-C stops.',
  ].join('\n');
}
