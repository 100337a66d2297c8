import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Settings } from '../kit/config/settings.ts';
import { makePrivateFolder, realEffects, type Effects } from '../kit/files/effects.ts';
import type { Logger } from '../kit/logging/log.ts';
import { RepeatedFailure } from '../kit/logging/repeated-failure.ts';
import { closeInTime } from '../kit/http/close-in-time.ts';
import { listenAt } from '../kit/http/listening-address.ts';
import { wholeAddresses } from '../kit/http/client-address.ts';
import { SiteRegistry } from '../kit/http/site-registry.ts';
import { repeatByTimer, type Repeat } from '../kit/time/repeat.ts';
import { SingleFlight } from '../kit/time/single-flight.ts';
import { openClickKeys } from '../pipeline/routes/click-keys.ts';
import { Agents } from './agents/agents.ts';
import { Countries } from './agents/countries.ts';
import { ClickHandler } from './clicks/click-handler.ts';
import { ClickIds } from './clicks/click-id.ts';
import { DailyCounts } from './clicks/daily-counts.ts';
import { countImported, restoreCounts, type ImportedConversion } from './clicks/restore-counts.ts';
import { Completions } from './conversions/completions.ts';
import { ConversionHandler } from './conversions/conversion-handler.ts';
import { ConversionLog } from './conversions/conversion-log.ts';
import { PostbackSources } from './conversions/postback-sources.ts';
import { RefusedConversions } from './conversions/refused-conversions.ts';
import { makeReplayKey } from './conversions/replay-key.ts';
import { ClickUsers } from './conversions/report/click-users.ts';
import { ImportedClicks } from './conversions/report/imported-clicks.ts';
import { KnownClicks } from './conversions/report/known-clicks.ts';
import { dayNumberOf } from './logs/log-names.ts';
import { recoverLogs } from './logs/recover-logs.ts';
import { RowLog, type RowLogOptions } from './logs/row-log.ts';
import { RouteFollower } from './routes/route-follower.ts';
import { createTrackerServer } from './server/tracker-server.ts';
import { TrackerMetrics } from './server/tracker-metrics.ts';

export interface TrackerOptions {
  data: DataDirectory;
  settings: Settings;
  log: Logger;
  effects?: Pick<Effects, 'now' | 'files'>;
  repeat?: Repeat;
  /** Ends the process after the disk may have lost what it took. */
  end?: () => void;
}

/** Answers clicks and takes conversions. It reads routes, `sites.json` and `sources.json`, never the warehouse. */
export interface Tracker {
  /** Starts to listen; returns the address, such as `http://127.0.0.1:8082`. Port 0 takes a free one. */
  listen(at: { host: string; port: number }): Promise<string>;
  /** Looks now for new routes, sites and sources, instead of waiting for the next time. */
  poll(): Promise<void>;
  /** Looks now after the logs: stalled, full, or old enough for landing. */
  tick(): Promise<void>;
  /** Finishes the answers under way, for ten seconds at most, and hands the logs to landing. */
  close(): Promise<void>;
}

const pollMilliseconds = 1000;
const tickMilliseconds = 500;
const summaryMilliseconds = 60_000;
/** How a tracker stops: clients that wait for an answer then are idle after it. Milliseconds. */
const closing = { idle: 100, limit: 10_000 };

const logKinds = ['clicks', 'conversions'] as const;

/**
 * Prepares a tracker, and first hands over to landing what an earlier one left unfinished. Call it with the tracker's
 * lock. Throws `UsageError` where a file of its configuration cannot be used.
 */
export async function createTracker(options: TrackerOptions): Promise<Tracker> {
  const { data, settings, log, effects = realEffects, repeat = repeatByTimer } = options;
  makePrivateFolder(data.tracker);
  const now = () => effects.now();
  for (const kind of logKinds) await recoverLogs(data, kind, effects.files, log);
  const keys = await openClickKeys(data, effects);
  const ids = new ClickIds(keys);
  const counts = new DailyCounts();
  const uncounted = await restoreCounts(data, counts, ids, now());

  const metrics = new TrackerMetrics();
  const onBroken = options.end ?? (() => process.exit(1));
  const logs = openLogs(metrics, { data, settings, log, effects, onBroken });
  const [clicks, conversions] = logs;
  const followed = await openFollowed(data, settings, log, now);
  const imported = new ImportedClicks(data);
  const refusals = new RefusedConversions(data, log);
  const parts = { data, settings, log, effects, now, counts, ids, metrics, followed, imported, refusals };
  const clickHandler = clickHandlerOf(parts, clicks, keys);
  const conversionHandler = await conversionHandlerOf(parts, conversions);

  const stopping = new AbortController();
  const counting = countingImported(parts, uncounted, stopping.signal);
  const routine = routineOf(parts, logs, counting);
  const unready = () => reasonToRefuse(followed.routes, logs, now());
  metrics.watch({ logs, routes: followed.routes, isReady: () => unready() === undefined, now });
  const server = createTrackerServer({
    clicks: clickHandler,
    conversions: conversionHandler,
    addressOf: wholeAddresses(settings.trusted_proxies),
    metrics,
    async unready() {
      // A check right after a refresh is to see its routes.
      await routine.polled();
      return unready();
    },
    log,
  });

  await routine.poll();
  await routine.tick();
  const stop = routine.start(repeat);
  return {
    poll: routine.poll,
    tick: routine.tick,
    listen: (at) => listenAt(server, at),
    async close() {
      await closeInTime(server, () => new Promise((resolve) => server.close(resolve)), closing);
      stop();
      routine.summarize();
      for (const each of logs) await each.close();
      await refusals.settled();
      stopping.abort();
      await counting.run();
      await imported.close();
    },
  };
}

/** What the handlers of clicks and conversions are made of. */
interface TrackerParts extends Pick<TrackerOptions, 'data' | 'settings' | 'log'> {
  effects: Pick<Effects, 'files'>;
  now: () => number;
  counts: DailyCounts;
  ids: ClickIds;
  metrics: TrackerMetrics;
  followed: FollowedFiles;
  imported: ImportedClicks;
  refusals: RefusedConversions;
}

/** What a tracker does at intervals. `polled` logs what failed, `poll` throws it. */
function routineOf({ log, metrics, followed }: TrackerParts, logs: readonly RowLog[], counting: SingleFlight) {
  const polls = new SingleFlight(async () => {
    await followed.poll();
    // Not awaited: it may take long.
    void counting.run();
  });
  const failed = (what: string) => (error: unknown) => log.error({ err: error }, `${what} failed; will retry`);
  const poll = () => polls.run();
  const polled = () => poll().catch(failed('polling for sites, routes, countries and sources'));
  const tick = async () => {
    await Promise.all(logs.map((each) => each.tick()));
  };
  const summarize = () => {
    const answered = metrics.takeSummary();
    if (answered !== undefined) log.info(answered, 'answered in the last minute');
  };
  const start = (repeat: Repeat) => {
    const stops = [
      repeat(() => void polled(), pollMilliseconds),
      repeat(() => void tick().catch(failed('looking after the logs of clicks and conversions')), tickMilliseconds),
      repeat(summarize, summaryMilliseconds),
    ];
    return () => stops.forEach((stop) => stop());
  };
  return { poll, polled, tick, summarize, start };
}

function openLogs(
  metrics: TrackerMetrics,
  {
    settings,
    ...opening
  }: Pick<TrackerParts, 'data' | 'settings' | 'log'> & Pick<RowLogOptions, 'effects' | 'onBroken'>,
): [clicks: RowLog, conversions: RowLog] {
  const { durability, hand_over_seconds } = settings.tracker;
  const maxAge = hand_over_seconds * 1000;
  const open = (kind: (typeof logKinds)[number]) =>
    new RowLog({ ...opening, kind, durability, maxAge, observer: metrics.observerOf(kind) });
  return [open('clicks'), open('conversions')];
}

/** The reason why nothing can be recorded or led anywhere now. */
function reasonToRefuse(routes: RouteFollower, logs: readonly RowLog[], now: number): string | undefined {
  if (routes.current === undefined) return 'there are no routes yet: run `offerline run refresh`';
  return logs.map((each) => each.refusal(now)).find((refusal) => refusal !== undefined);
}

/** Files that others write, as they are now. */
type FollowedFiles = Awaited<ReturnType<typeof openFollowed>>;

async function openFollowed(data: DataDirectory, { tracker }: Settings, log: Logger, now: () => number) {
  const sites = new SiteRegistry(data.sitesFile, log, now);
  await sites.start();
  const routes = new RouteFollower(data, log);
  const countries = new Countries(tracker.country_database, log);
  const sources = await PostbackSources.open(data, log);
  const all = [sites, routes, countries, sources];
  return {
    sites,
    routes,
    countries,
    sources,
    async poll() {
      for (const each of all) await each.poll();
    },
  };
}

function clickHandlerOf(
  { settings, now, counts, ids, metrics, followed: { sites, routes, countries } }: TrackerParts,
  sink: RowLog,
  keys: readonly Buffer[],
): ClickHandler {
  return new ClickHandler({
    settings: settings.tracker,
    site: (key) => sites.named(key),
    hasRoutes: () => routes.current !== undefined,
    route: (offerId) => routes.route(offerId),
    agents: new Agents(),
    countries,
    counts,
    ids,
    // The oldest key makes it, so that a user's hash stays the same when a new key comes.
    userKey: createHmac('sha256', keys.at(-1) as Buffer)
      .update('hashes of users')
      .digest(),
    sink,
    now,
    onUnknown: (what) => metrics.countUnknown(what),
  });
}

async function conversionHandlerOf(parts: TrackerParts, sink: RowLog): Promise<ConversionHandler> {
  const { data, log, effects, now, counts, ids, metrics, imported, refusals } = parts;
  const { routes, sources } = parts.followed;
  const published = (clickId: string) => imported.find(clickId);
  const recorded = await ConversionLog.open(data, sink, now());
  const completions = await Completions.open(data, recorded, now(), effects.files, log);
  return new ConversionHandler({
    sources,
    offers: () => (routes.current === undefined ? undefined : { offerOf: (offerId) => routes.route(offerId) }),
    clicks: new KnownClicks(ids, published),
    users: new ClickUsers(data, published),
    conversions: recorded,
    completions,
    refusals,
    replayKey: await makeReplayKey(data, log, effects.files),
    now,
    log,
    onRecorded({ conversionId, clickId, kind }, offerId, at) {
      const clicksToday = counts.addConversion({ offerId, clickId, conversionId, kind }, dayNumberOf(at)) ?? 0;
      const cap = routes.route(offerId)?.daily_cap ?? Infinity;
      // The row stays: the user did the work before the cap was reached, or before it was known.
      if (clicksToday > cap) metrics.countOverCap();
    },
  });
}

/** Counts conversions of imported clicks against caps, as far as these can be looked up now. */
function countingImported(
  { data, log, counts, imported }: TrackerParts,
  uncounted: Map<string, ImportedConversion[]>,
  stop: AbortSignal,
): SingleFlight {
  const offerOf = async (clickId: string) => {
    if (!existsSync(data.current)) throw new Error('nothing is published yet');
    return (await imported.find(clickId))?.offerId;
  };
  const failure = new RepeatedFailure();
  return new SingleFlight(() =>
    countImported(uncounted, counts, offerOf, stop).catch(({ message: reason }: Error) => {
      if (failure.isNew(reason))
        log.error(
          { clicks: uncounted.size, reason },
          'imported clicks cannot be looked up, so their conversions do not count against caps yet; will retry',
        );
    }),
  );
}
