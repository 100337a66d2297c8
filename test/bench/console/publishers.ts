import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import type { Bench } from '../bench.ts';
import { inTurns, type Pair } from '../rounds.ts';
import { mixedPaths, ratePerSecond } from '../serve/latency.ts';
import type { Load } from '../serve/load.ts';
import type { ServingData } from '../serve/serving-data.ts';
import type { Stand } from '../serve/stand.ts';
import { coldPages, inTurn } from './cold-pages.ts';
import { ConsoleClient, type Asked } from './console-client.ts';

/** First publishers alone, then beside the console. */
export type PublisherRound = Pair<{ load: Load }, { load: Load; pages: Asked[] }>;

export const pagesPerSecond = 10;
const turnMilliseconds = 8_000;
/** Turns of each kind in a round of the bench: what else a machine does hits single turns. */
const turnsPerRound = 2;

/** Latency of publishers' requests at a steady load, with and without people at the console, in turns. */
export async function measurePublishers(
  { options, terminal, signal }: Bench,
  stand: Stand,
  { data, sites }: ServingData,
): Promise<PublisherRound[]> {
  const snapshots = (await readdir(data.published)).filter((name) => /^\d/.test(name)).toSorted();
  const cold = await withDuckDB(join(data.current, analyticsFile), readOnly, (connection) =>
    coldPages(connection, snapshots),
  );
  const pages = inTurn(cold).map(({ address }) => address);
  const service = await stand.serve(data);
  const server = await stand.console(data);
  try {
    const client = await ConsoleClient.enter(server);
    const plan = { paths: mixedPaths(options.seed + 1, sites), ratePerSecond };
    const pause = () => setTimeout(turnMilliseconds, undefined, { signal });
    await stand.loadDuring(service, plan, pause);
    let visits = 0;
    return await inTurns(
      options.rounds * turnsPerRound,
      async () => ({ load: await stand.loadDuring(service, plan, pause) }),
      async () => {
        // Each time by addresses that no page is kept of.
        visits += 1;
        const asked = pages.map((page) => `${page}${page.includes('?') ? '&' : '?'}turn=${visits}`);
        const stop = new AbortController();
        const answers = client.askSteadily(asked, pagesPerSecond, stop.signal);
        const load = await stand.loadDuring(service, plan, pause).finally(() => stop.abort());
        return { load, pages: await answers };
      },
      (round, { first, second }) =>
        terminal.logger.info(
          { alone_p99_ms: first.load.p99, console_p99_ms: second.load.p99 },
          `publishers beside the console: turn ${round} of ${options.rounds * turnsPerRound}`,
        ),
    );
  } finally {
    await stand.stop(server);
    await stand.stop(service);
  }
}
