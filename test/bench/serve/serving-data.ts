import { readFile, writeFile } from 'node:fs/promises';
import { readSites, type Site } from '../../../src/kit/sites/sites.ts';
import { changeSites, forgetRuns, generateLogs, historyEnd, type Bench, type GeneratedLogs } from '../bench.ts';
import { measureRefresh } from '../measured-refresh.ts';

/** A published network that a service can serve. */
export interface ServingData extends GeneratedLogs {
  /** Those that may ask. */
  sites: Site[];
}

/** The catalog that random filters meet. */
export const largeCatalog = { offers: 5_000, sites: 200 };
/** Enough for figures on most of its offers; serving costs the same whatever history holds. */
const clicksOnLargeCatalog = 50_000;

export async function generateLargeCatalog(bench: Bench): Promise<GeneratedLogs> {
  return generateLogs(bench, 'large-catalog', {
    clicks: clicksOnLargeCatalog,
    days: 2,
    end: historyEnd,
    ...largeCatalog,
  });
}

/** Lifts the sites' rate limits to the highest there is, and publishes a first snapshot. */
export async function publishForServing(logs: GeneratedLogs, signal: AbortSignal): Promise<ServingData> {
  const { data } = logs;
  await forgetRuns(data);
  await changeSites(data, { rate_limit_per_hour: 1_000_000 });
  await measureRefresh(data, historyEnd, logs, signal);
  return { ...logs, sites: readSites(data.sitesFile).sites.filter(({ status }) => status === 'active') };
}

/** Groups of sites with the same rules, and sites with and without rules. */
export const ruleGroups = 20;
const [ruledSites, freeSites] = [2_000, 2_000];

/** Publishes the catalog again with more sites of C: some whose rules differ by groups, and as many without rules. */
export async function publishRuledSites(
  { data, ...logs }: ServingData,
  signal: AbortSignal,
): Promise<Record<'ruled' | 'free', Site[]>> {
  const { sites } = JSON.parse(await readFile(data.sitesFile, 'utf8')) as { sites: object[] };
  const more = (name: string, count: number, own: (number: number) => object) =>
    Array.from({ length: count }, (_, number) => ({
      site_key: `${name}-${number}`,
      site_secret: `the-secret-of-${name}-${number}`,
      rate_limit_per_hour: 1_000_000,
      ...own(number),
    }));
  // Each group lacks others of the offers, which are a large part of the catalog.
  const deny = (group: number) => [
    { category: ['games', 'surveys', 'finance', 'education'][group % 4] as string },
    ...Array.from({ length: 50 }, (_, number) => ({ offer: 1_000_001 + group * 50 + number })),
  ];
  const ruled = more('ruled', ruledSites, (number) => ({ offers: { deny: deny(number % ruleGroups) } }));
  const free = more('free', freeSites, () => ({}));
  await writeFile(data.sitesFile, JSON.stringify({ sites: [...sites, ...ruled, ...free] }));
  await forgetRuns(data);
  await measureRefresh(data, historyEnd, logs, signal);
  const known = readSites(data.sitesFile).sites;
  const named = (name: string) => known.filter(({ site_key }) => site_key.startsWith(`${name}-`));
  return { ruled: named('ruled'), free: named('free') };
}
