import { join } from 'node:path';
import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { readSettings, type Settings } from '../src/kit/config/settings.ts';
import { exitCode, OfferlineError, StoppedError, UsageError } from '../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import { acquireProcessLock, type ProcessLock } from '../src/kit/files/process-lock.ts';
import { readSources, type SourceEntry } from '../src/sources/config/sources-file.ts';
import type { S3Settings } from '../src/sources/config/s3-settings.ts';
import type { PullClock } from '../src/sources/http/budget.ts';
import type { Fetching } from '../src/sources/http/fetcher.ts';
import { resolveSource, type ResolvedSource } from '../src/sources/resolve-source.ts';
import { PullLedger } from '../src/sources/pull-ledger.ts';
import { EmittedStore } from '../src/sources/conversions/emitted-store.ts';
import { CampaignLinkStore } from '../src/sources/campaign-links.ts';
import { pullConversions } from '../src/sources/pull-conversions.ts';
import { pullOffers } from '../src/sources/pull-offers.ts';
import { pullObjects, type ObjectsPull } from '../src/sources/s3/pull-objects.ts';
import { TakenObjects } from '../src/sources/s3/taken-objects.ts';
import { noteOutcome, type NotingOutcome } from '../src/pipeline/runs/pipeline-outcomes.ts';
import { momentOfMilliseconds, type Moment } from '../src/kit/time/moment.ts';
import {
  askingOf,
  askSources,
  bucketAccess,
  fetchingOf,
  realPullClock,
  type AskingSources,
  type SourcesRequest,
} from './ask-sources.ts';
import { modeAdvice } from './mode-advice.ts';

export interface PullRequest extends SourcesRequest {
  /**
   * By the schedule: only sources that nobody pulls, without names those without a schedule of their own, and budgets
   * are shared with its other processes. Who pulls by hand does not wait for what has been asked before.
   */
  scheduled?: boolean;
}

/** Returns which sources a pull asks, of those that it names or of all. */
export function isWantedBy({ scheduled, names = [] }: PullRequest): (entry: SourceEntry) => boolean {
  return ({ every }) => scheduled !== true || names.length > 0 || every === undefined;
}

/** Result of pulling one source. */
interface PulledSource {
  source: string;
  /** `interrupted`: it was asked to end. */
  status: 'done' | 'failed' | 'interrupted';
  /** Pages of the list of offers, or of a bucket's lists. */
  pages: number;
  /** Offers, or objects of a bucket that became landing files. */
  records: number;
  /** The landing file, or the number of files from a bucket; null without news. */
  file: string | null;
  left_out: Record<string, number>;
  warnings: Record<string, number>;
  /** Conversions that the network listed, lines written of them, and those that wait or were left out. */
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

/**
 * Pulls sources concurrently: each writes its own landing file, and one that fails or waits delays no other. Never
 * opens the warehouse. Throws `UsageError` where `sources.json` cannot be used or lacks a named source.
 */
export async function pullSources(
  request: PullRequest,
  effects: Effects = realEffects,
  clock: PullClock = realPullClock,
): Promise<PulledSource[]> {
  const { data, terminal, names = [] } = request;
  const settings = readSettings(data);
  using ledger = new PullLedger(data);
  const isScheduled = request.scheduled === true;
  // A pull of named sources is recorded in the pull ledger only.
  const noting = names.length === 0 ? { data, effects, logger: terminal.logger } : undefined;
  try {
    const asked = { ...request, sharedBudgets: isScheduled ? data : undefined };
    const wanted = await askSources(asked, clock, isWantedBy(request), (entry, asking) =>
      pullSource(entry, settings, { ...asking, data, ledger, effects, passesOver: isScheduled }),
    );
    const pulled = wanted.filter((each) => each !== undefined);
    // A run that passes over all sources is no news of them.
    if (noting !== undefined && (pulled.length > 0 || wanted.length === 0)) await notePulled(noting, pulled);
    return pulled;
  } catch (error) {
    if (noting !== undefined) await noteOutcome(noting, 'pull', error);
    throw error;
  }
}

function notePulled(noting: NotingOutcome, pulled: readonly PulledSource[]): Promise<void> {
  const failed = pulled.filter(({ status }) => status === 'failed').map(({ source, error }) => `${source}: ${error}`);
  if (failed.length > 0) return noteOutcome(noting, 'pull', new OfferlineError(failed.join('; ')));
  const isStopped = pulled.some(({ status }) => status === 'interrupted');
  return noteOutcome(noting, 'pull', isStopped ? new StoppedError('it was asked to end') : undefined);
}

interface Pulling extends AskingSources {
  data: DataDirectory;
  ledger: PullLedger;
  effects: Effects;
  /** Passes over a source that another process pulls, in place of waiting for it. */
  passesOver: boolean;
}

/** Pulls a source; undefined where it is passed over. */
async function pullSource(entry: SourceEntry, settings: Settings, pulling: Pulling): Promise<PulledSource | undefined> {
  const { data, ledger, stop, clock, passesOver } = pulling;
  const { logger } = pulling.terminal;
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
    lock = await lockOf(data, entry.source, passesOver ? 0 : 3600, (message) => logger.info(message));
    const startedAt = momentOfMilliseconds(clock.now());
    pullId = ledger.begin(entry.source, startedAt);
    const source = resolveSource(entry) as ResolvedSource;
    redact = (text) => source.redactor.redact(text);
    const add: AddingResult = (part) => void (result = { ...result, ...part });
    if (entry.s3 === undefined) {
      const fetching = fetchingOf(source, pulling);
      await pullLists({ ...pulling, entry, settings, source, startedAt, fetching, add });
    } else await pullBucket(source, entry.s3, pulling, add);
    result = { ...result, status: 'done' };
    logger.info({ ...result, error: undefined }, 'pulled');
  } catch (error) {
    if (passesOver && error instanceof SourceBusyError) {
      logger.info({ source: entry.source }, 'its pull before is still under way: passed over until the next moment');
      return undefined;
    }
    const reason = stop.aborted ? 'it was asked to end' : redact((error as Error).message);
    result = { ...result, status: stop.aborted ? 'interrupted' : 'failed', error: reason };
    logger.error({ source: entry.source }, `${whatStays(entry, result)}: ${reason}`);
  }
  try {
    if (pullId !== undefined)
      ledger.end(pullId, momentOfMilliseconds(clock.now()), {
        ...result,
        left_out: JSON.stringify(result.left_out),
        warnings: JSON.stringify(result.warnings),
        conversions_left_out: JSON.stringify(result.conversions_left_out),
      });
  } catch (error) {
    // Other sources are still being pulled.
    const reason = `the end of its pull cannot be recorded: ${(error as Error).message}`;
    logger.error({ source: entry.source }, `${reason}; the next pull asks again`);
    result = { ...result, status: 'failed', error: result.error ?? reason };
  } finally {
    lock?.release();
  }
  return result;
}

/** What a pull that ended early leaves. */
function whatStays({ s3 }: SourceEntry, { file }: PulledSource): string {
  if (s3 !== undefined) return 'not pulled, the objects that it gave so far stay';
  if (file === null) return 'not pulled, its last catalog stays';
  return 'not pulled whole, its offers landed and its conversions are not complete';
}

type AddingResult = (part: Partial<PulledSource>) => void;

/** Parts that pulling the lists of a source needs. */
interface PullingLists extends Pulling {
  entry: SourceEntry;
  settings: Settings;
  source: ResolvedSource;
  startedAt: Moment;
  fetching: Fetching;
  /** Adds the result of a list. */
  add: AddingResult;
}

/** Pulls a source's lists. One that fails does not keep the other from being asked for. */
async function pullLists(pulling: PullingLists): Promise<void> {
  const failures: Error[] = [];
  for (const pullList of [pullOffersList, pullConversionsList])
    try {
      await pullList(pulling);
    } catch (error) {
      if (pulling.stop.aborted) throw error;
      failures.push(error as Error);
    }
  const [first, second] = failures;
  if (first === undefined) return;
  if (second === undefined) throw first;
  throw new OfferlineError(`offers: ${first.message}; conversions: ${second.message}`, undefined, { cause: first });
}

async function pullOffersList(pulling: PullingLists): Promise<void> {
  const { data, effects, settings, source, startedAt, fetching, add } = pulling;
  if (source.offers === undefined) return;
  const mode = settings.sources[source.name]?.mode ?? 'full';
  if (source.offers.isFull !== (mode === 'full')) throw new UsageError(modeAdvice(source.name, mode));
  const folder = join(data.landing, 'offers', source.name);
  using links = new CampaignLinkStore(data);
  const { leftOut, ...whole } = await pullOffers(source, folder, startedAt, links, fetching, effects);
  add({ ...whole, left_out: leftOut });
}

async function pullConversionsList(pulling: PullingLists): Promise<void> {
  const { data, effects, entry, settings, source, startedAt, fetching, add } = pulling;
  if (source.conversions === undefined) return;
  const { currency, time_zone: timeZone, reversal_days } = entry;
  const otherSources = readSources(data).sources.flatMap(({ source: name }) => (name === source.name ? [] : [name]));
  const reading = {
    source: source.name,
    otherSources,
    timeZone,
    currency,
    rates: settings.rates,
    pulledAt: startedAt,
  };
  using emitted = new EmittedStore(data);
  const pulled = await pullConversions({
    source,
    conversions: source.conversions,
    folder: join(data.landing, 'conversions'),
    days: reversal_days,
    reading,
    store: emitted,
    fetching,
    effects,
  });
  if (pulled.leftOut['time_without_zone'] !== undefined)
    throw new UsageError(`its times have no zone: say which by "time_zone" of ${source.name} in sources.json`);
  const { conversions, lines: conversion_lines, leftOut } = pulled;
  add({ conversions, conversion_lines, conversions_left_out: leftOut });
}

/** Pulls a bucket's objects, and adds the result of each page. */
async function pullBucket(
  source: ResolvedSource,
  settings: S3Settings,
  pulling: Pulling,
  add: AddingResult,
): Promise<void> {
  const { data, terminal, effects } = pulling;
  using taken = new TakenObjects(data);
  const access = bucketAccess(source, settings);
  let left = 0;
  const onPage = ({ pages, taken: records, lastPath, leftOut }: ObjectsPull) => {
    left = leftOut.next_pull ?? 0;
    add({ pages, records, left_out: leftOut, file: records > 1 ? `${records} files` : lastPath });
  };
  const request = { ...access, source: source.name, landing: data.landing, taken, effects, onPage };
  await pullObjects(request, askingOf(source, pulling));
  if (left > 0)
    terminal.logger.warn(
      { source: source.name, objects: left },
      'a pull fetches at most 2 GiB; the next one fetches the rest',
    );
}

function lockOf(data: DataDirectory, source: string, waitSeconds: number, onWaiting: (message: string) => void) {
  return acquireProcessLock(
    {
      name: `source ${source}`,
      lockFile: data.sourceLockFile(source),
      busy: (message) => new SourceBusyError(message),
    },
    { command: 'sources pull', waitSeconds, onWaiting },
  );
}
