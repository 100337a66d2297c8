import { copyFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { makePackage } from '../../release/bundle.ts';
import { packageFile } from '../../src/kit/files/package-files.ts';
import { generateLogs, historyEnd, type Bench, type Measure } from './bench.ts';
import { measureProcess } from './measured-process.ts';
import { measureRefresh } from './measured-refresh.ts';
import { settledAfterMilliseconds } from './refresh.ts';
import { inTurns, measureOf } from './rounds.ts';

/** A quiet run reads none of them: with more it takes hardly longer. */
const clicksBefore = 30_000;
const bareOpen = new URL('./bare-open.ts', import.meta.url);

/**
 * Refreshes without new files by the package, as processes, against Node that only opens the same state: with the as-of
 * of the published snapshot, which publish nothing, and with later ones, which publish.
 */
export async function measureQuietRuns(bench: Bench): Promise<Measure[]> {
  const { options, folder, signal } = bench;
  const logs = await generateLogs(bench, 'quiet', { clicks: clicksBefore, days: 3, end: historyEnd });
  const program = await installedProgram(join(folder, 'package'));
  await setTimeout(settledAfterMilliseconds, undefined, { signal });
  let asOf = historyEnd;
  const refresh = () => measureRefresh(logs.data, asOf, logs, signal, program);
  const refreshLater = () => {
    asOf = new Date(Date.parse(asOf) + 1000).toISOString();
    return refresh();
  };
  await refresh();
  const state = join(folder, 'quiet.duckdb');
  await copyFile(logs.data.stateFile, state);
  const open = () => measureProcess(bareOpen, [state], { signal });
  const same = await inTurns(options.rounds, refresh, open);
  const later = await inTurns(options.rounds, refreshLater, open);
  const ratios = (pairs: typeof same) => pairs.map(({ first, second }) => first.cpuSeconds / second.cpuSeconds);
  return [
    measureOf('refresh without news / Node opening its state, by processor time', ratios(same), '<= 4'),
    measureOf(
      'the same by the clock',
      same.map(({ first }) => first.seconds),
      '<= 0.45',
      ' s',
    ),
    measureOf('refresh without news as of later, which publishes, likewise by processor time', ratios(later), '-'),
  ];
}

/** Makes the package as npm installs it, and returns its commands' program. */
async function installedProgram(folder: string): Promise<URL> {
  await makePackage(folder);
  await symlink(packageFile('node_modules'), join(folder, 'node_modules'));
  return pathToFileURL(join(folder, 'src/cli/main.js'));
}
