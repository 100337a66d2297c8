import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../src/config/data-directory.ts';
import { readSettings, type Settings } from '../src/config/settings.ts';
import { exitCode, OfferlineError, UsageError } from '../src/errors/errors.ts';
import { realEffects, type Effects } from '../src/files/effects.ts';
import { acquireProcessLock, type ProcessLock } from '../src/files/process-lock.ts';
import type { Console } from '../src/logging/progress.ts';
import { pulledSources, readSources, type SourceEntry } from '../src/sources/config/sources-file.ts';
import { checkSource, type SourceCheck } from '../src/sources/check-source.ts';
import { Budgets, type PullClock } from '../src/sources/http/budget.ts';
import { HttpExchanges } from '../src/sources/http/exchange.ts';
import type { Fetching } from '../src/sources/http/fetcher.ts';
import { openSource, type OpenSource } from '../src/sources/open-source.ts';
import { PullLedger } from '../src/sources/pull-ledger.ts';
import { ToldStore } from '../src/sources/conversions/told-store.ts';
import { pullConversions } from '../src/sources/pull-conversions.ts';
import { pullOffers } from '../src/sources/pull-offers.ts';
import { momentOfMilliseconds } from '../src/time/moment.ts';

export interface PullRequest {
  data: DataDirectory;
  console: Console;
  /** Names of sources; all that have something to pull where none is given. */
  names?: readonly string[];
  /** Of all, those without a plan of their own. */
  scheduled?: boolean;
  /** Aborted once the pull shall end. */
  stop?: AbortSignal;
}

/** What became of one source. */
export interface PulledSource {
  source: string;
  /** `interrupted`: it was asked to end. */
  status: 'done' | 'failed' | 'interrupted';
  pages: number;
  records: number;
  file: string | null;
  left_out: Record<string, number>;
  warnings: Record<string, number>;
  /** Conversions that the network listed, lines that were written of them, and those that wait or were left out. */
  conversions: number;
  conversion_lines: number;
  conversions_left_out: Record<string, number>;
  error: string | null;
}

/** Another process pulls the source. */
class SourceBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

const realClock: PullClock = {
  now: () => Date.now(),
  wait: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal });
  },
  random: () => Math.random(),
};

/**
 * Pulls sources, all at once: each writes its own landing file, and one that fails, or waits, delays no other. Never
 * opens the warehouse. Throws `UsageError` where `sources.json` cannot be used or has no source of a name.
 */
export async function pullSources(
  { data, console, names = [], scheduled = false, stop = new AbortController().signal }: PullRequest,
  effects: Effects = realEffects,
  clock: PullClock = realClock,
): Promise<PulledSource[]> {
  const { sources, warnings } = readSources(data);
  for (const warning of warnings) console.logger.warn(warning);
  const wanted = chosen(sources, names, data).filter(({ every }) => !scheduled || every === undefined);
  const settings = readSettings(data);
  using ledger = new PullLedger(data);
  const exchanges = new HttpExchanges();
  const budgets = new Budgets(clock);
  try {
    return await Promise.all(
      wanted.map((entry) =>
        pullSource(entry, settings, {
          data,
          console,
          ledger,
          exchanges,
          budgets,
          stop,
          effects,
          clock,
        }),
      ),
    );
  } finally {
    await exchanges.close();
  }
}

/** Sources that have a connector, or those of them that are named. */
function chosen(sources: readonly SourceEntry[], names: readonly string[], data: DataDirectory): SourceEntry[] {
  const pulled = pulledSources(sources);
  if (names.length === 0) return pulled;
  return names.map((name) => {
    const found = pulled.find(({ source }) => source === name);
    if (found === undefined)
      throw new UsageError(
        `${data.sourcesFile} has no source ${name} to pull; \`offerline sources list\` shows those there are`,
      );
    return found;
  });
}

interface Pulling {
  data: DataDirectory;
  console: Console;
  ledger: PullLedger;
  exchanges: HttpExchanges;
  budgets: Budgets;
  stop: AbortSignal;
  effects: Effects;
  clock: PullClock;
}

async function pullSource(
  entry: SourceEntry,
  settings: Settings,
  { data, console, ledger, exchanges, budgets, stop, effects, clock }: Pulling,
): Promise<PulledSource> {
  const { logger } = console;
  let result: PulledSource = {
    source: entry.source,
    status: 'failed',
    pages: 0,
    records: 0,
    file: null,
    left_out: {},
    warnings: {},
    conversions: 0,
    conversion_lines: 0,
    conversions_left_out: {},
    error: null,
  };
  let pullId: number | undefined;
  let redact = (text: string) => text;
  let lock: ProcessLock | undefined;
  try {
    lock = await lockOf(data, entry.source, (message) => logger.info(message));
    const startedAt = momentOfMilliseconds(clock.now());
    pullId = ledger.begin(entry.source, startedAt);
    const source = openSource(entry) as OpenSource;
    redact = (text) => source.redactor.redact(text);
    const mode = settings.sources[source.name]?.mode ?? 'full';
    if (source.offers !== undefined && source.offers.isFull !== (mode === 'full'))
      throw new UsageError(modeAdvice(source, mode));
    const fetching = fetchingOf(source, { exchanges, budgets, clock, stop, console });
    if (source.offers !== undefined) {
      const folder = join(data.landing, 'offers', source.name);
      const { leftOut, ...whole } = await pullOffers(source, folder, startedAt, fetching, effects);
      result = { ...result, ...whole, left_out: leftOut };
    }
    if (source.conversions !== undefined) {
      const { currency, time_zone: timeZone, reversal_days } = entry;
      const reading = { source: source.name, timeZone, currency, rates: settings.rates, pulledAt: startedAt };
      using told = new ToldStore(data);
      const folder = join(data.landing, 'conversions');
      const pulled = await pullConversions(source, folder, reversal_days, reading, told, fetching, effects);
      if (pulled.leftOut['time_without_zone'] !== undefined)
        throw new UsageError(`its times have no zone: say which by "time_zone" of ${source.name} in sources.json`);
      const { conversions, lines: conversion_lines, leftOut } = pulled;
      result = { ...result, conversions, conversion_lines, conversions_left_out: leftOut };
    }
    result = { ...result, status: 'done' };
    logger.info({ ...result, error: undefined }, 'pulled');
  } catch (error) {
    const reason = stop.aborted ? 'it was asked to end' : redact((error as Error).message);
    result = { ...result, status: stop.aborted ? 'interrupted' : 'failed', error: reason };
    logger.error({ source: entry.source }, `not pulled, its last catalog stays: ${reason}`);
  } finally {
    if (pullId !== undefined)
      ledger.end(pullId, momentOfMilliseconds(clock.now()), {
        ...result,
        left_out: JSON.stringify(result.left_out),
        warnings: JSON.stringify(result.warnings),
        conversions_left_out: JSON.stringify(result.conversions_left_out),
      });
    lock?.release();
  }
  return result;
}

function fetchingOf(
  source: OpenSource,
  { exchanges, budgets, clock, stop, console }: Pick<Pulling, 'exchanges' | 'budgets' | 'clock' | 'stop' | 'console'>,
): Fetching {
  const limit = (source.offers ?? source.conversions)?.stream.budget ?? { requests: 1, seconds: 1 };
  return {
    exchanges,
    budget: budgets.of(new URL(source.baseUrl).host, source.account, limit),
    clock,
    signal: stop,
    read: { bytes: 0 },
    redact: (text) => source.redactor.redact(text),
    onRetry: (reason, wait) => console.logger.warn({ source: source.name, wait_ms: wait }, `asking again: ${reason}`),
  };
}

/** What one page of each source shows; nothing is written. */
export interface CheckedSource extends Partial<SourceCheck> {
  source: string;
  error: string | null;
}

/** Asks each source for one page. Throws `UsageError` as `pullSources` does. */
export async function checkSources(
  { data, console, names = [], stop = new AbortController().signal }: PullRequest,
  clock: PullClock = realClock,
): Promise<CheckedSource[]> {
  const { sources, warnings } = readSources(data);
  for (const warning of warnings) console.logger.warn(warning);
  const exchanges = new HttpExchanges();
  const budgets = new Budgets(clock);
  try {
    return await Promise.all(
      chosen(sources, names, data).map(async (entry) => {
        let redact = (text: string) => text;
        try {
          const source = openSource(entry) as OpenSource;
          redact = (text) => source.redactor.redact(text);
          const shown = await checkSource(source, fetchingOf(source, { exchanges, budgets, clock, stop, console }));
          return { source: entry.source, ...shown, error: null };
        } catch (error) {
          return { source: entry.source, error: redact((error as Error).message) };
        }
      }),
    );
  } finally {
    await exchanges.close();
  }
}

function lockOf(data: DataDirectory, source: string, onWaiting: (message: string) => void) {
  return acquireProcessLock(
    {
      name: `source ${source}`,
      lockFile: join(data.sources, `${source}.lock`),
      busy: (message) => new SourceBusyError(message),
    },
    { command: 'sources pull', waitSeconds: 3600, onWaiting },
  );
}

/** An export of a full source removes what it lacks; a delta removes nothing. */
function modeAdvice({ name }: OpenSource, mode: 'full' | 'delta'): string {
  return mode === 'full'
    ? `its answers are never the whole catalog: say so by "sources": {"${name}": {"mode": "delta"}} in offerline.json`
    : `its answers are the whole catalog: leave "mode" of "${name}" in offerline.json out, or "full"`;
}
