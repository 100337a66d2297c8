import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import type { Bench, Measure } from '../bench.ts';
import { inTurns, measureOf, median, percentile95 } from '../rounds.ts';
import { ratePerSecond } from '../serve/latency.ts';
import { mixedPaths } from '../serve/requests.ts';
import { Stand } from '../serve/stand.ts';
import { coldPages, inTurn } from './cold-pages.ts';
import { ConsoleClient } from './console-client.ts';
import { publishLongHistory } from './long-history.ts';

/** Below what a session may ask for in a second. Milliseconds between two pages. */
const between = 60;
const pagesPerSecond = 10;
const turnMilliseconds = 8_000;

/** Pages of the console that nobody asked for before, and what publishers notice of people at it. */
export async function measureConsole(bench: Bench): Promise<Measure[]> {
  const { options, signal } = bench;
  const { data, clicks, sites } = await publishLongHistory(bench);
  const snapshots = (await readdir(data.published)).filter((name) => /^\d/.test(name)).toSorted();
  const pages = await withDuckDB(join(data.current, analyticsFile), readOnly, (connection) =>
    coldPages(connection, snapshots),
  );
  const addresses = inTurn(pages).map(({ address }) => address);
  const stand = new Stand(signal);
  try {
    const server = await stand.console(data);
    const client = await ConsoleClient.enter(server);
    const cold: { milliseconds: number; bytes: number }[] = [];
    for (const address of addresses) {
      await setTimeout(between, undefined, { signal });
      cold.push(await client.ask(address));
    }
    const service = await stand.serve(data);
    const plan = { paths: mixedPaths(options.seed + 1, sites), ratePerSecond };
    const pause = () => setTimeout(turnMilliseconds, undefined, { signal });
    await stand.loadDuring(service, plan, pause);
    let visits = 0;
    const turns = await inTurns(
      options.rounds,
      () => stand.loadDuring(service, plan, pause),
      async () => {
        // Each time by addresses that no page is kept of.
        visits += 1;
        const asked = addresses.map((page) => `${page}${page.includes('?') ? '&' : '?'}turn=${visits}`);
        const stop = new AbortController();
        const answers = client.askSteadily(asked, pagesPerSecond, stop.signal);
        const load = await stand.loadDuring(service, plan, pause).finally(() => stop.abort());
        await answers;
        return load;
      },
    );
    return [
      measureOf(
        `median of ${cold.length} cold console pages, ${clicks} clicks`,
        [median(cold.map(({ milliseconds }) => milliseconds))],
        '<= 100',
        ' ms',
      ),
      measureOf(
        `95th percentile of ${cold.length} cold console pages, ${clicks} clicks`,
        [percentile95(cold.map(({ milliseconds }) => milliseconds))],
        '<= 100',
        ' ms',
      ),
      measureOf(
        'bytes of a console page at most',
        [Math.max(...cold.map(({ bytes }) => bytes)) / 1000],
        '<= 150',
        ' kB',
      ),
      measureOf(
        `publishers' 99th percentile at ${ratePerSecond}/s, worse under ${pagesPerSecond} console pages a second by`,
        turns.map(({ first, second }) => second.p99 - first.p99),
        '<= 2',
        ' ms',
      ),
      measureOf(
        'publishers’ requests that failed meanwhile',
        turns.map(({ second }) => second.failed),
        '0',
      ),
    ];
  } finally {
    await stand.close();
  }
}
