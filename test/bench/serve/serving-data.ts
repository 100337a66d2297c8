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
