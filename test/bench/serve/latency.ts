import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { currentName, snapshotNames, switchCurrent } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { arrivalEnd, generateLogs, type Bench, type Measure } from '../bench.ts';
import { measureRefresh } from '../measured-refresh.ts';
import { newClicks, onlyClickFile } from '../refresh.ts';
import { measureOf } from '../rounds.ts';
import { mixedPaths } from './requests.ts';
import { largeCatalog, type ServingData } from './serving-data.ts';
import { servedSnapshot, type Server, type Stand } from './stand.ts';

/** A busy service that is not at its limit, or latency would be the length of a queue. */
export const ratePerSecond = 250;
const quietMilliseconds = 5_000;
const switches = 6;
/** A service looks for a new snapshot every second. */
const takenUpMilliseconds = 10_000;

/** Latency at a steady load: alone, while refreshes run and are taken up, and while `current` moves to and fro. */
export async function measureLatencies(
  bench: Bench,
  stand: Stand,
  { data, clicks, sites }: ServingData,
): Promise<Measure[]> {
  const { options, signal } = bench;
  const arrivals: string[] = [];
  for (let round = 1; round <= options.rounds; round++)
    arrivals.push(
      await onlyClickFile(
        await generateLogs(bench, `serve-arrivals-${round}`, {
          clicks: newClicks,
          days: 1,
          end: arrivalEnd,
          seed: options.seed + round,
          ...largeCatalog,
        }),
      ),
    );
  const service = await stand.serve(data);
  const load = (happening: () => Promise<void>) =>
    stand.loadDuring(service, { paths: mixedPaths(options.seed + 1, sites), ratePerSecond }, happening);
  const pause = () => setTimeout(quietMilliseconds, undefined, { signal });
  const takenUp = async () => waitFor(service, await currentName(data));

  await load(pause);
  const alone = await load(pause);
  const refreshing = await load(async () => {
    for (const [index, arrival] of arrivals.entries()) {
      await copyFile(arrival, join(data.landing, 'clicks', `arrival-${index}.ndjson`));
      await measureRefresh(data, arrivalEnd, { clicks: clicks + newClicks * (index + 1) }, signal);
      await takenUp();
    }
  });
  const newest = (await snapshotNames(data)).slice(-2);
  const switching = await load(async () => {
    for (let turn = 0; turn < switches; turn++) {
      await switchCurrent(data, newest[turn % 2] ?? '', realEffects.files);
      await takenUp();
    }
  });
  await stand.stop(service);
  const loads = { alone, 'while refreshes run': refreshing, 'while snapshots are switched': switching };
  return Object.entries(loads).flatMap(([when, { p99, failed }]) => [
    measureOf(`99th percentile at ${ratePerSecond} requests a second ${when}`, [p99], '-', ' ms'),
    measureOf('requests that failed meanwhile', [failed], '0'),
  ]);
}

/** Throws where the service does not take the snapshot up in time: nothing would be measured. */
async function waitFor(service: Server, snapshot: string | undefined): Promise<void> {
  const end = performance.now() + takenUpMilliseconds;
  while ((await servedSnapshot(service)) !== snapshot) {
    if (performance.now() > end) throw new Error(`the service did not take up ${snapshot} in time`);
    await setTimeout(100);
  }
}
