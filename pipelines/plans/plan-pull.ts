import { readSettings } from '../../src/kit/config/settings.ts';
import { connectorNamed } from '../../src/sources/connectors/connectors.ts';
import type { SourceEntry } from '../../src/sources/config/sources-file.ts';
import { resolveSource } from '../../src/sources/resolve-source.ts';
import { PullLedger } from '../../src/sources/pull-ledger.ts';
import type { Moment } from '../../src/kit/time/moment.ts';
import { askSources, realPullClock } from '../ask-sources.ts';
import { isWantedBy, type PullRequest } from '../pull.ts';

/** Requests that a pull would make to one source. */
interface PlannedPull {
  source: string;
  connector: string | null;
  /** Null where the bucket's SDK decides. */
  host: string | null;
  pulls: ('offers' | 'conversions' | 'objects')[];
  last_pull: string | null;
  last_whole_pull_at: Moment | null;
  /** Error that it would fail with before any request, such as a missing secret. */
  error: string | null;
}

/** Returns the requests that a pull would make. Makes none and writes nothing. Throws `UsageError` as a pull does. */
export async function planPull(request: PullRequest): Promise<PlannedPull[]> {
  // A pull fails on a broken offerline.json, too.
  readSettings(request.data);
  const newest = PullLedger.read(request.data, (ledger) => ledger.newest());
  return await askSources(request, realPullClock, isWantedBy(request), async (entry) => {
    const pulls = newest?.get(entry.source);
    return {
      source: entry.source,
      connector: entry.connector ?? null,
      ...asked(entry),
      last_pull: pulls?.last.status ?? null,
      last_whole_pull_at: pulls?.whole?.finished_at ?? null,
    };
  });
}

function asked(entry: SourceEntry): Pick<PlannedPull, 'host' | 'pulls' | 'error'> {
  const address = entry.base_url ?? connectorNamed(entry.connector)?.baseUrl ?? '';
  const host = URL.parse(address)?.host ?? null;
  try {
    const source = resolveSource(entry);
    if (entry.s3 !== undefined) return { host, pulls: ['objects'], error: null };
    const pulls = (['offers', 'conversions'] as const).filter((what) => source?.[what] !== undefined);
    return { host, pulls, error: null };
  } catch (error) {
    return { host, pulls: [], error: (error as Error).message };
  }
}
