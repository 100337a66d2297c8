import { generateLogs, historyEnd, type Bench, type GeneratedLogs } from '../bench.ts';
import { measureLatencies, measureLookups, type Latencies, type Lookups } from './latency.ts';
import { lengthenHistory } from './long-history.ts';
import { generateLargeCatalog, largeCatalog, publishForServing } from './serving-data.ts';
import { Stand } from './stand.ts';
import { measureDefaultPages, measureFilters, type Throughput } from './throughput.ts';

export interface ServingResults {
  /** Whether server and client had a core each. */
  pinned: boolean;
  catalog: typeof largeCatalog;
  throughput: Throughput[];
  latencies: Latencies;
  lookups: Lookups;
}

/** The service under load: default pages and lookups on the bench's own clicks, the rest on a large catalog. */
export async function measureServing(bench: Bench, logs: GeneratedLogs): Promise<ServingResults> {
  const { terminal, signal } = bench;
  const stand = new Stand(signal);
  try {
    if (!stand.pinned) terminal.logger.warn('server and client share the cores: that takes two of them and `taskset`');
    terminal.logger.info({ clicks: logs.clicks }, 'publishing what is served');
    const history = await publishForServing(logs, signal);
    const pages = await measureDefaultPages(bench, stand, history);
    const lookups = await measureLookups(bench, stand, history);
    const catalog = await publishForServing(await generateLargeCatalog(bench), signal);
    const filters = await measureFilters(bench, stand, catalog);
    const latencies = await measureLatencies(bench, stand, catalog);
    return { pinned: stand.pinned, catalog: largeCatalog, throughput: [...pages, ...filters], latencies, lookups };
  } finally {
    await stand.close();
  }
}

/** Clicks of the network whose snapshot is then given a long history. */
const ownClicks = 10_000;

/** Lookups of single clicks in a history of any length. */
export async function measureLongLookups(bench: Bench): Promise<Lookups> {
  const stand = new Stand(bench.signal);
  try {
    const logs = await generateLogs(bench, 'lookups', { clicks: ownClicks, days: 2, end: historyEnd });
    return await measureLookups(
      bench,
      stand,
      await lengthenHistory(bench, await publishForServing(logs, bench.signal)),
    );
  } finally {
    await stand.close();
  }
}
