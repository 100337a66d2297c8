import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { writeCatalogs, type CatalogCount } from './landing/catalog-files.ts';
import { ClickLogs, type LogStyle } from './landing/click-logs.ts';
import { ConversionLogs } from './landing/conversion-logs.ts';
import type { LogCount } from './landing/generated-log.ts';
import type { GeneratedOffer } from './network/canonical-records.ts';
import type { Source } from './network/catalog.ts';
import { buildNetwork, networkSettings, type Network } from './network/network.ts';
import { ParquetWriter } from './landing/parquet-writer.ts';
import { fewestSites } from './network/publishers.ts';
import { firstMidnight, visits, type Traffic } from './network/traffic.ts';

export interface GenerateOptions {
  /** The data directory to fill. */
  out: string;
  /** 0 … 2³²−1. The same options give the same bytes. */
  seed: number;
  /** Different clicks, duplicates not counted. */
  clicks: number;
  /** Calendar days (UTC), the last one being that of `end` and going as far as `end`. */
  days: number;
  /** Latest moment at which something happens. */
  end: Date;
  offers?: number;
  sites?: number;
  /** With duplicates, rows to be rejected and a broken file; default true. */
  messy?: boolean;
  /** Formats of the logs; `ndjson` leaves out the others, for comparisons with a bare read. Default `mixed`. */
  formats?: LogStyle['formats'];
  /** Seed of catalog and sites; default `seed`. With another `seed` it gives further traffic of the same network. */
  networkSeed?: number;
  /** Content of the `offerline.json` that is there, whose keys stay; without it there must be none. */
  ownSettings?: object | undefined;
  /** Settings in `offerline.json` beside those that the network needs. */
  settings?: object;
  /** Sources whose catalogs are kept under `demo/` for a simulated network to list, and not landed. */
  pulled?: readonly Source[];
}

export interface GenerateSummary {
  out: string;
  /** RFC 3339: the first midnight and the end of the traffic. */
  from: string;
  to: string;
  sites: number;
  offers: CatalogCount;
  clicks: LogCount;
  conversions: LogCount;
}

/** Offers and sites of a network by default. */
export const usualSize = { offers: 300, sites: 8 } as const;

/** Clicks made between two writes: memory stays the same for any number. */
const clicksPerWrite = 10_000;

/**
 * Fills a data directory with a believable network: settings, catalogs, logs and, once all of these are there, sites.
 * `onProgress` gets the clicks done and in all. Throws `UsageError` where there is data already.
 */
export async function generate(
  options: GenerateOptions,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<GenerateSummary> {
  const { seed, clicks, days, messy = true, formats = 'mixed', pulled = [] } = options;
  const size = { offers: options.offers ?? usualSize.offers, sites: options.sites ?? usualSize.sites };
  checkOptions(options, size);
  const out = new DataDirectory(options.out);
  refuseWhereDataIs(out, options.ownSettings !== undefined);

  const traffic: Traffic = { seed, clicks, days, end: options.end.getTime() };
  const network = buildNetwork(options.networkSeed ?? seed, size, traffic.end);
  const draft = new DataDirectory(join(out.root, '.generating'));
  const parquet = new ParquetWriter();
  try {
    await rm(draft.root, { recursive: true, force: true });
    await mkdir(draft.landing, { recursive: true });
    await writeFile(draft.settingsFile, documentText(settingsOf(options)));
    await writeFile(draft.sitesFile, documentText({ sites: network.sites }), { mode: 0o600 });
    const records = network.offers.map(({ record }) => record);
    const style = { messy, end: traffic.end, pulled };
    const offers = await writeCatalogs(join(draft.landing, 'offers'), records, style, parquet);
    if (pulled.length > 0) await writeListed(draft, records, pulled);
    const logs = await writeLogs(draft.landing, network, traffic, { messy, formats }, parquet, onProgress);
    await rename(draft.settingsFile, out.settingsFile);
    if (pulled.length > 0) await mkdir(out.demo, { recursive: true });
    for (const source of pulled) await rename(draft.demoNetworkFile(source), out.demoNetworkFile(source));
    await rename(draft.landing, out.landing);
    await rename(draft.sitesFile, out.sitesFile);
    return {
      out: out.root,
      from: new Date(firstMidnight(traffic)).toISOString(),
      to: options.end.toISOString(),
      sites: network.sites.length,
      offers,
      ...logs,
    };
  } finally {
    parquet.close();
    await rm(draft.root, { recursive: true, force: true });
  }
}

/** Records of each pulled source's network, as JSON. */
async function writeListed(draft: DataDirectory, records: readonly GeneratedOffer[], pulled: readonly Source[]) {
  await mkdir(draft.demo, { recursive: true });
  for (const source of pulled)
    await writeFile(
      draft.demoNetworkFile(source),
      documentText(
        records.filter((record) => record.source === source).map(({ source: _network, ...record }) => record),
      ),
    );
}

async function writeLogs(
  landing: string,
  network: Network,
  traffic: Traffic,
  style: LogStyle,
  parquet: ParquetWriter,
  onProgress: (done: number, total: number) => void,
): Promise<{ clicks: LogCount; conversions: LogCount }> {
  const clickLogs = new ClickLogs(join(landing, 'clicks'), traffic, style);
  const conversionLogs = new ConversionLogs(join(landing, 'conversions'), traffic, style);
  onProgress(0, traffic.clicks);
  for (const visit of visits(network, traffic)) {
    clickLogs.take(visit);
    conversionLogs.take(visit);
    if ((visit.index + 1) % clicksPerWrite !== 0) continue;
    await clickLogs.flush(parquet);
    await conversionLogs.flush();
    onProgress(visit.index + 1, traffic.clicks);
  }
  await clickLogs.finish(parquet);
  await conversionLogs.finish(parquet);
  onProgress(traffic.clicks, traffic.clicks);
  return { clicks: clickLogs.count, conversions: conversionLogs.count };
}

function checkOptions(
  { seed, clicks, days, end, networkSeed = seed }: GenerateOptions,
  { offers, sites }: { offers: number; sites: number },
): void {
  // Click ids are made of 32 bits of an index that goes up to twice the clicks; one source must not be without offers.
  const ranges: [name: string, value: number, lowest: number, highest: number][] = [
    ['seed', seed, 0, 2 ** 32 - 1],
    ['network seed', networkSeed, 0, 2 ** 32 - 1],
    ['clicks', clicks, 1, 2_000_000_000],
    ['days', days, 1, 3660],
    ['offers', offers, 10, 100_000],
    ['sites', sites, fewestSites, 10_000],
  ];
  for (const [name, value, lowest, highest] of ranges) {
    if (!Number.isInteger(value) || value < lowest || value > highest) {
      throw new UsageError(`${name} must be a whole number from ${lowest} to ${highest}, not ${value}`);
    }
  }
  if (Number.isNaN(end.getTime()))
    throw new UsageError('The end of the traffic must be a moment in time, such as 2026-01-31T12:00:00Z');
}

/** Own settings come before those of the network, also within `rates`, `sources` and `logs`. */
function settingsOf({ settings, ownSettings = {} }: GenerateOptions): Record<string, unknown> {
  const own = ownSettings as Record<string, object | undefined>;
  const merged = Object.entries(networkSettings).map(([key, value]) => [key, { ...value, ...own[key] }]);
  return { ...settings, ...own, ...(Object.fromEntries(merged) as object) };
}

function refuseWhereDataIs(out: DataDirectory, hasSettings: boolean): void {
  for (const path of [out.landing, out.sitesFile, ...(hasSettings ? [] : [out.settingsFile])]) {
    if (existsSync(path))
      throw new UsageError(
        `${path} exists already and is left as it is; name another directory, or move it away first`,
      );
  }
}

function documentText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
