import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { UsageError } from '../src/kit/errors/errors.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';
import type { S3Settings } from '../src/sources/config/s3-settings.ts';
import { pulledSources, readSources, type SourceEntry } from '../src/sources/config/sources-file.ts';
import { BegunRequests } from '../src/sources/http/begun-requests.ts';
import { Budgets, type PullClock } from '../src/sources/http/budget.ts';
import { HttpExchanges } from '../src/sources/http/exchange.ts';
import type { Fetching } from '../src/sources/http/fetcher.ts';
import { openPullDatabase, openPullMemory } from '../src/sources/pull-database.ts';
import type { ResolvedSource } from '../src/sources/resolve-source.ts';
import type { BucketAccess } from '../src/sources/s3/bucket.ts';
import type { Asking } from '../src/sources/s3/tries.ts';

export interface SourcesRequest {
  data: DataDirectory;
  terminal: Terminal;
  /** Names of sources; by default all that are pulled. */
  names?: readonly string[];
  /** Aborted when the work is asked to end. */
  stop?: AbortSignal;
  /** Whose other processes share the budgets of hosts; without it they are this work's alone. */
  sharedBudgets?: DataDirectory | undefined;
}

/** Shared by all sources of one request: connections, and the budgets of hosts. */
export interface AskingSources {
  terminal: Terminal;
  exchanges: HttpExchanges;
  budgets: Budgets;
  stop: AbortSignal;
  clock: PullClock;
}

export const realPullClock: PullClock = {
  now: () => Date.now(),
  steady: () => Number(process.hrtime.bigint() / 1_000_000n),
  wait: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal });
  },
  random: () => Math.random(),
};

/**
 * Asks sources concurrently: the named ones, or all of `among` (by default those with a connector) that are wanted.
 * Throws `UsageError` where `sources.json` cannot be used or lacks a named source.
 */
export async function askSources<Result>(
  { data, terminal, names = [], ...rest }: SourcesRequest,
  clock: PullClock,
  isWanted: (entry: SourceEntry) => boolean,
  ask: (entry: SourceEntry, asking: AskingSources) => Promise<Result>,
  among: (sources: readonly SourceEntry[]) => SourceEntry[] = pulledSources,
): Promise<Result[]> {
  const { sources, warnings } = readSources(data);
  for (const warning of warnings) terminal.logger.warn(warning);
  const wanted = chosen(among(sources), names, data).filter(isWanted);
  return askingAt(clock, { terminal, ...rest }, (asking) => Promise.all(wanted.map((entry) => ask(entry, asking))));
}

/** Does work that asks sources, with connections that end with it. */
export async function askingAt<Result>(
  clock: PullClock,
  {
    terminal,
    stop = new AbortController().signal,
    sharedBudgets,
  }: Pick<SourcesRequest, 'terminal' | 'stop' | 'sharedBudgets'>,
  work: (asking: AskingSources) => Promise<Result>,
): Promise<Result> {
  using begun = new BegunRequests(sharedBudgets === undefined ? openPullMemory() : openPullDatabase(sharedBudgets));
  const exchanges = new HttpExchanges();
  try {
    return await work({ terminal, exchanges, budgets: new Budgets(clock, begun), stop, clock });
  } finally {
    await exchanges.close();
  }
}

/** Returns all sources, or the named ones. */
function chosen(sources: SourceEntry[], names: readonly string[], data: DataDirectory): SourceEntry[] {
  if (names.length === 0) return sources;
  return names.map((name) => {
    const found = sources.find(({ source }) => source === name);
    if (found === undefined)
      throw new UsageError(
        `${data.sourcesFile} has no source ${name} to ask; \`offerline sources list\` shows those there are`,
      );
    return found;
  });
}

/** Returns the settings for reaching a source's bucket. */
export function bucketAccess({ baseUrl, secrets, redactor }: ResolvedSource, settings: S3Settings): BucketAccess {
  return { settings, baseUrl: baseUrl === '' ? undefined : baseUrl, secrets, redactor };
}

/** Returns the context of requests to a bucket. */
export function askingOf(source: ResolvedSource, { clock, stop, terminal }: AskingSources): Asking {
  return { clock, signal: stop, redact: redactOf(source), onRetry: onRetryOf(source, terminal) };
}

function redactOf({ redactor }: ResolvedSource): Fetching['redact'] {
  return (text) => redactor.redact(text);
}

/** Returns a callback that logs each wait before a retry. */
function onRetryOf({ name, redactor }: ResolvedSource, { logger }: Terminal): Asking['onRetry'] {
  return (reason, wait) => logger.warn({ source: name, wait_ms: wait }, `asking again: ${redactor.redact(reason)}`);
}

/** Returns the context of requests to a network. */
export function fetchingOf(
  source: ResolvedSource,
  { exchanges, budgets, clock, stop, terminal }: AskingSources,
): Fetching {
  return {
    exchanges,
    budgetOf: (limit) => budgets.of(new URL(source.baseUrl).host, source.account, limit),
    clock,
    signal: stop,
    read: { bytes: 0 },
    redact: redactOf(source),
    onRetry: onRetryOf(source, terminal),
  };
}
