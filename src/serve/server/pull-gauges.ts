import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { pulledSources, readSources } from '../../sources/config/sources-file.ts';
import { PullLedger } from '../../sources/pull-ledger.ts';
import { dateOf } from '../../kit/time/moment.ts';
import type { LabelledGauge } from '../../kit/http/gauge.ts';

/** How old the last whole pull of each source is. None where nothing is pulled, or `sources.json` cannot be used. */
export function pullGauges(data: DataDirectory, nowMilliseconds: number): LabelledGauge[] {
  const pulled = pulledNames(data);
  if (pulled.length === 0) return [];
  using ledger = PullLedger.existing(data);
  const newest = ledger?.newest();
  const values = pulled.map((source): [string, number] => {
    const at = newest?.get(source)?.whole?.finished_at;
    return [source, at === undefined || at === null ? Infinity : (nowMilliseconds - dateOf(at).getTime()) / 1000];
  });
  return [
    {
      name: 'offerline_source_last_whole_pull_age_seconds',
      help: 'Time since the last whole pull of each source of sources.json; infinite where there was none.',
      label: 'source',
      values,
    },
  ];
}

function pulledNames(data: DataDirectory): string[] {
  try {
    return pulledSources(readSources(data).sources).map(({ source }) => source);
  } catch {
    // `status` says what is wrong with it.
    return [];
  }
}
