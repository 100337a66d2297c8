import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { replaceFile } from '../kit/files/effects.ts';
import { sources as demoSources } from './generate/network/catalog.ts';
import type { Logger } from '../kit/logging/log.ts';
import { SimulatedNetwork, type Fault } from './simulator/network.ts';
import { plainDialect, type PlainOffer } from './simulator/plain.ts';
import { readSources } from '../sources/config/sources-file.ts';
import { landingFieldNames } from '../kit/vocabulary/offer-fields.ts';

/** Sources of a demo whose catalogs are pulled; the others' are landed. */
export const pulledDemoSources = ['lumen', 'clickfield'] as const;

/** No secret: it opens a list of made-up offers on loopback. */
const key = 'key-of-the-demo';
/** The schedule pulls each of them every minute, so that a newcomer sees it happen. */
const every = '* * * * *';
/** Offers on a page, and tries that a pull gives each page. */
const pageSize = 25;
const triesOfPull = 5;

/** Clickfield's second pull fails with all its tries; the third finds the network well again. */
function outageOf(source: string, offers: readonly PlainOffer[]): Fault[] {
  const pages = Math.ceil(offers.length / pageSize);
  return source === 'clickfield'
    ? Array.from({ length: triesOfPull }, (_, index) => ({ kind: 'unavailable', request: pages + 1 + index }))
    : [];
}

/**
 * The advertisers' end of a demo: networks on loopback that list what the files of `demo/` hold, read at each start.
 * Writes `sources.json` where it lacks one of them or a token to report conversions by, and where another program has
 * taken a network's port. Undefined where the data directory is of no demo.
 */
export async function startDemoNetworks(data: DataDirectory, logger: Logger): Promise<AsyncDisposable | undefined> {
  if (!isDemo(data)) return undefined;
  await using starting = new AsyncDisposableStack();
  const known = new Map(readSources(data).sources.map((entry) => [entry.source, entry]));
  const addresses: Record<string, string> = {};
  for (const source of pulledDemoSources) {
    const offers = JSON.parse(readFileSync(data.demoNetworkFile(source), 'utf8')) as PlainOffer[];
    const network = await listening(Number(URL.parse(known.get(source)?.base_url ?? '')?.port ?? 0), {
      key,
      offers,
      faults: outageOf(source, offers),
    });
    starting.use(network);
    addresses[source] = network.url;
  }
  const isWhole =
    pulledDemoSources.every((source) => known.get(source)?.base_url === addresses[source]) &&
    demoSources.every((source) => known.get(source)?.postback !== undefined);
  if (!isWhole) await replaceFile(data.sourcesFile, sourcesText(data, addresses), 'sources: demo', undefined, 0o600);
  logger.info(addresses, "two of the demo's networks wait to be pulled on loopback");
  return starting.move();
}

/** Returns true for a data directory that was filled for a demo. */
export function isDemo(data: DataDirectory): boolean {
  return pulledDemoSources.every((source) => existsSync(data.demoNetworkFile(source)));
}

/** On the port that the network had, else on a free one. */
async function listening(port: number, options: { key: string; offers: PlainOffer[]; faults: Fault[] }) {
  try {
    return await SimulatedNetwork.speaking(plainDialect, { ...options, port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return await SimulatedNetwork.speaking(plainDialect, options);
  }
}

type WrittenSource = { source: string; postback?: object };

/** Keeps other sources of the file, and the tokens by which these report. */
function sourcesText({ sourcesFile }: DataDirectory, addresses: Record<string, string>): string {
  const before = existsSync(sourcesFile)
    ? (JSON.parse(readFileSync(sourcesFile, 'utf8')) as { sources: WrittenSource[] }).sources
    : [];
  const others = before.filter(({ source }) => !demoSources.some((name) => name === source));
  const ours = demoSources.map((source) => {
    const known = before.find((entry) => entry.source === source);
    const pulled = addresses[source] === undefined ? known : pulledSource(source, addresses[source]);
    return { ...pulled, source, postback: known?.postback ?? { token: randomBytes(32).toString('hex') } };
  });
  return `${JSON.stringify({ sources: [...others, ...ours] }, null, 2)}\n`;
}

function pulledSource(source: string, base_url: string): WrittenSource {
  const asked = {
    connector: 'http',
    base_url,
    secrets: { key },
    every,
    offers: {
      path: '/offers',
      query: { page: '{page}', size: '{size}' },
      headers: { 'X-Key': '{key}' },
      records: 'offers',
      paging: { kind: 'page', size: pageSize, total: 'total' },
      full: source !== 'clickfield',
      fields: Object.fromEntries(landingFieldNames.map((name) => [name, name])),
    },
  };
  return { source, ...asked };
}
