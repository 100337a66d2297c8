import { join } from 'node:path';
import { forgetRuns, historyEnd, type Bench, type GeneratedLogs } from './bench.ts';
import { measureProcess, type Measured } from './measured-process.ts';
import { measureRefresh, type MeasuredRefresh } from './measured-refresh.ts';
import { inTurns, type Pair } from './rounds.ts';

export type WholeRefreshRound = Pair<MeasuredRefresh, Measured>;

const bareCopy = new URL('./bare-copy.ts', import.meta.url);

/**
 * Measure a: the first refresh of a data directory (first) against DuckDB's bare COPY of the same click files (second).
 */
export async function measureWholeRefresh(
  { options, folder, terminal, signal }: Bench,
  logs: GeneratedLogs,
): Promise<WholeRefreshRound[]> {
  const refreshed = async () => {
    await forgetRuns(logs.data);
    return measureRefresh(logs.data, historyEnd, logs, signal);
  };
  const copied = async () => {
    const measured = await measureProcess(bareCopy, [logs.data.root, join(folder, 'bare-copy.parquet')], { signal });
    const { rows } = JSON.parse(measured.output) as { rows: number };
    if (rows !== logs.clicks) throw new Error(`the bare COPY wrote ${rows} rows, ${logs.clicks} were generated`);
    return measured;
  };
  return inTurns(options.rounds, refreshed, copied, (round, { first, second }) => {
    terminal.logger.info(
      { refresh_s: first.seconds, copy_s: second.seconds },
      `whole refresh: round ${round} of ${options.rounds}`,
    );
  });
}
