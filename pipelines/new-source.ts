import { readSettings } from '../src/kit/config/settings.ts';
import { momentOfMilliseconds } from '../src/kit/time/moment.ts';
import type { SourceEntry } from '../src/sources/config/sources-file.ts';
import { resolveSource, type ResolvedSource } from '../src/sources/resolve-source.ts';
import { askingAt, realPullClock, type SourcesRequest } from './ask-sources.ts';
import { checkEntry, otherNames, type CheckedSource } from './check-sources.ts';
import { samplePages, type SampledPages } from './samples/sample-pages.ts';

/** Records that are shown of a source that may be added. */
const shown = 3;

/** A source that is not in `sources.json`, as its first pages show it. */
interface TriedSource {
  checked: CheckedSource;
  /** Reads the same pages with other settings of the source. */
  readAgain: (entry: SourceEntry) => SampledPages | undefined;
}

/**
 * Asks a source that is not in `sources.json` for its first pages, and reads them as a pull would. Writes nothing.
 * Throws `UsageError` for an unusable `offerline.json`.
 */
export async function trySource(
  entry: SourceEntry,
  { data, terminal, stop }: Pick<SourcesRequest, 'data' | 'terminal' | 'stop'>,
): Promise<TriedSource> {
  const sampling = { settings: readSettings(data), shown, otherSources: otherNames(data, entry.source) };
  const { checked, pages } = await askingAt(realPullClock, { terminal, ...(stop && { stop }) }, (asking) =>
    checkEntry(entry, asking, data, sampling),
  );
  const pulledAt = momentOfMilliseconds(realPullClock.now());
  return {
    checked,
    readAgain: (other) =>
      pages && samplePages(other, resolveSource(other) as ResolvedSource, pages, { ...sampling, pulledAt }),
  };
}
