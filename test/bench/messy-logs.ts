import { forgetRuns, generateLogs, historyEnd, type Bench, type GeneratedLogs } from './bench.ts';
import { measureRefresh, type MeasuredRefresh } from './measured-refresh.ts';
import { inTurns, type Pair } from './rounds.ts';

/**
 * The first refresh of logs in several formats, packed and not, with duplicates, conflicts and rows to be rejected
 * (first), against that of as many clicks in plain NDJSON (second).
 */
export async function measureMessyLogs(
  bench: Bench,
  clean: GeneratedLogs,
): Promise<Pair<MeasuredRefresh, MeasuredRefresh>[]> {
  const { options, terminal, signal } = bench;
  const messy = await generateLogs(bench, 'messy', {
    clicks: options.clicks,
    days: options.days,
    end: historyEnd,
    messy: true,
  });
  const refreshed = (logs: GeneratedLogs) => async () => {
    await forgetRuns(logs.data);
    return measureRefresh(logs.data, historyEnd, logs, signal);
  };
  return inTurns(options.rounds, refreshed(messy), refreshed(clean), (round, { first, second }) => {
    terminal.logger.info(
      { messy_s: first.seconds, clean_s: second.seconds },
      `messy logs: round ${round} of ${options.rounds}`,
    );
  });
}
