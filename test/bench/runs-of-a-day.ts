import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { refresh } from '../../pipelines/refresh.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { arrivalEnd, generateLogs, historyEnd, type Bench, type Measure } from './bench.ts';
import { onlyClickFile } from './refresh.ts';
import { measureOf, median } from './rounds.ts';

const clicksInEach = 50;
/** Runs whose median is compared with that of as many later ones. */
const compared = 10;
const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

/**
 * What a run costs after many others on the same day, against one after ten: each brings a file of clicks, as where a
 * schedule watches the landing folder. By processor time of runs in this process; one series, whatever the rounds.
 */
export async function measureRunsOfADay(bench: Bench): Promise<Measure[]> {
  const runs = bench.options.quick ? 40 : 240;
  const { data } = await generateLogs(bench, 'runs-of-a-day', { clicks: 1000, days: 1, end: historyEnd });
  const arrivals = await generateLogs(bench, 'arrivals-of-a-day', {
    clicks: runs * clicksInEach,
    days: 1,
    end: arrivalEnd,
    seed: bench.options.seed + 3,
  });
  const lines = (await readFile(await onlyClickFile(arrivals), 'utf8')).trimEnd().split('\n');
  const milliseconds: number[] = [];
  bench.terminal.progress.start('runs on one day', runs);
  try {
    for (let run = 0; run < runs; run++) {
      bench.signal.throwIfAborted();
      const part = lines.slice(run * clicksInEach, (run + 1) * clicksInEach);
      await writeFile(join(data.landing, 'clicks', `arrival-${run}.ndjson`), `${part.join('\n')}\n`);
      const asOf = new Date(Date.parse(arrivalEnd) + run * 100).toISOString();
      const begun = process.cpuUsage();
      await refresh({ data, terminal: silent, asOf });
      const { user, system } = process.cpuUsage(begun);
      milliseconds.push((user + system) / 1000);
      bench.terminal.progress.advance(run + 1);
    }
  } finally {
    bench.terminal.progress.finish();
  }
  const few = median(milliseconds.slice(compared, 2 * compared));
  return [
    measureOf(
      `a run after ${runs - compared} others on its day / after ${compared}`,
      [median(milliseconds.slice(-compared)) / few],
      '<= 1.3',
    ),
  ];
}
