import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { currentManifest } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { forgetRuns, historyEnd, type Bench, type GeneratedLogs } from './bench.ts';
import { measureRefresh, type MeasuredRefresh } from './measured-refresh.ts';
import type { Pair } from './rounds.ts';

export interface ConversionRound extends Pair<MeasuredRefresh, MeasuredRefresh> {
  /** Microseconds that the ingest stage takes a row of conversions, and a row of clicks. */
  conversionMicroseconds: number;
  clickMicroseconds: number;
}

/**
 * Ingest of all conversions, their clicks being there (first), against that of all clicks (second), a row each. The
 * stage's fixed costs are in both.
 */
export async function measureConversionRows(
  { options, terminal, signal }: Bench,
  { data, clicks }: GeneratedLogs,
): Promise<ConversionRound[]> {
  const landed = join(data.landing, 'conversions');
  const apart = join(data.root, 'conversions-apart');
  const rounds: ConversionRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    await forgetRuns(data);
    await rename(landed, apart);
    let second: MeasuredRefresh;
    try {
      second = await measureRefresh(data, historyEnd, { clicks }, signal);
    } finally {
      await rename(apart, landed);
    }
    const first = await measureRefresh(data, historyEnd, { clicks }, signal);
    const conversions = (await currentManifest(data))?.row_counts['conversions'] ?? 0;
    const each = ({ stages }: MeasuredRefresh, rows: number) => ((stages['ingest'] ?? 0) * 1e6) / rows;
    const measured = {
      first,
      second,
      conversionMicroseconds: each(first, conversions),
      clickMicroseconds: each(second, clicks),
    };
    rounds.push(measured);
    terminal.logger.info(
      { conversion_us: measured.conversionMicroseconds, click_us: measured.clickMicroseconds, conversions },
      `rows of conversions: round ${round} of ${options.rounds}`,
    );
  }
  return rounds;
}
