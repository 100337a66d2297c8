import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readSettings } from '../../kit/config/settings.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { readPostbackSecrets } from '../../sources/config/postback-settings.ts';
import { readSources, sourcesExposure, type SourceEntry, type Sources } from '../../sources/config/sources-file.ts';
import { PullLedger } from '../../sources/pull-ledger.ts';
import { resolveSource } from '../../sources/resolve-source.ts';
import { note, trouble, type Finding } from './finding.ts';

/** Reads `sources.json` and its secrets as a pull and the tracker do, and checks each source's mode and last pull. */
export function examineSources(data: DataDirectory): Finding[] {
  let read: Sources;
  try {
    read = readSources(data);
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    return [sourceTrouble(data.sourcesFile, error.message, 'nothing is pulled until it is put right')];
  }
  const modes = readSettings(data).sources;
  return [
    ...examineExposure(data),
    ...read.sources.flatMap((entry) => [
      ...examineSource(entry, modes[entry.source]?.mode ?? 'full'),
      ...examinePostback(entry),
    ]),
    ...examinePulls(data, read),
  ];
}

function examineExposure({ sourcesFile }: DataDirectory): Finding[] {
  const exposure = sourcesExposure(sourcesFile);
  return exposure === undefined ? [] : [note('sources', sourcesFile, exposure.problem, exposure.cure)];
}

/** Finds pulls whose process died, or that their ledger is damaged. */
function examinePulls(data: DataDirectory, { sources }: Sources): Finding[] {
  let damage: { problem: string; cure: string } | undefined;
  const newest = PullLedger.read(
    data,
    (ledger) => ledger.newest(),
    (error) => (damage = error),
  );
  if (damage !== undefined) return [trouble('pulls', data.pullLedgerFile, damage.problem, damage.cure)];
  return sources.flatMap(({ source }) => {
    const last = newest?.get(source)?.last;
    if (last?.status !== 'interrupted' || last.finished_at !== null) return [];
    return [
      sourceTrouble(
        source,
        `its pull of ${last.started_at} ended by force`,
        `run \`offerline sources pull ${source}\``,
      ),
    ];
  });
}

function examineSource(entry: SourceEntry, mode: 'full' | 'delta'): Finding[] {
  try {
    const offers = resolveSource(entry)?.offers;
    if (offers === undefined || offers.isFull === (mode === 'full')) return [];
    const wanted = offers.isFull ? 'full' : 'delta';
    return [
      sourceTrouble(
        entry.source,
        `is "${mode}" in offerline.json, and its lists are ${wanted}`,
        `say "sources": {"${entry.source}": {"mode": "${wanted}"}} in offerline.json`,
      ),
    ];
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    return [sourceTrouble(entry.source, error.message, 'make its secret readable; it is not pulled until then')];
  }
}

function examinePostback({ source, postback }: SourceEntry): Finding[] {
  try {
    if (postback !== undefined) readPostbackSecrets(source, postback);
    return [];
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    return [sourceTrouble(source, error.message, 'make its secret readable; the tracker does not start until then')];
  }
}

function sourceTrouble(subject: string, problem: string, advice: string): Finding {
  return trouble('sources', subject, problem, advice, { repairable: false });
}
