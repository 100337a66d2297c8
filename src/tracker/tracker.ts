import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Settings } from '../kit/config/settings.ts';
import { makePrivateFolder, realEffects, type Effects } from '../kit/files/effects.ts';
import type { Logger } from '../kit/logging/log.ts';
import { RepeatedFailure } from '../kit/logging/repeated-failure.ts';
import { listenAt } from '../kit/http/listening-address.ts';
import { wholeAddresses } from '../kit/http/client-address.ts';
import { SiteRegistry } from '../kit/http/site-registry.ts';
import { openClickKeys } from '../pipeline/routes/click-keys.ts';
import { Agents } from './agents/agents.ts';
import { Countries } from './agents/countries.ts';
import { ClickHandler } from './clicks/click-handler.ts';
import { ClickIds } from './clicks/click-id.ts';
import { DailyCounts } from './clicks/daily-counts.ts';
import { countImported, restoreCounts } from './clicks/restore-counts.ts';
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
import { RowLog } from './logs/row-log.ts';
import { RouteFollower } from './routes/route-follower.ts';
import { createTrackerServer } from './server/tracker-server.ts';
import { TrackerMetrics } from './server/tracker-metrics.ts';

export interface TrackerOptions {
  data: DataDirectory;
  settings: Settings;
  log: Logger;
  effects?: Pick<Effects, 'now' | 'files'>;
  /** Calls the task again and again until the returned function is called. Default: by a timer. */
  repeat?: (task: () => void, milliseconds: number) => () => void;
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
const closeMilliseconds = 10_000;
/** Time between two looks for idle clients, while the tracker stops. */
const idleMilliseconds = 100;

/**
 * Prepares a tracker, and first hands over to landing what an earlier one left unfinished. Call it with the tracker's
 * lock. Throws `UsageError` where a file of its configuration cannot be used.
 */
export async function createTracker({
  data,
  settings,
  log,
  effects = realEffects,
  repeat = byTimer,
  end = () => process.exit(1),
}: TrackerOptions): Promise<Tracker> {
  makePrivateFolder(data.tracker);
  const now = () => effects.now();
  const kinds = ['clicks', 'conversions'] as const;
  for (const kind of kinds) await recoverLogs(data, kind, effects.files, log);
  const keys = await openClickKeys(data, effects);
  const ids = new ClickIds(keys);
  const counts = new DailyCounts();
  const uncounted = await restoreCounts(data, counts, ids, now());

  const metrics = new TrackerMetrics();
  const { durability, hand_over_seconds } = settings.tracker;
  const maxAge = hand_over_seconds * 1000;
  const [clicks, conversions] = kinds.map((kind) => {
    const observer = metrics.observerOf(kind);
    return new RowLog({ data, kind, durability, maxAge, effects, log, onBroken: end, observer });
  }) as [RowLog, RowLog];
  const logs = [clicks, conversions];
  const sites = new SiteRegistry(data.sitesFile, log, now);
  await sites.start();
  const routes = new RouteFollower(data, log);
  const countries = new Countries(settings.tracker.country_database, log);
  const sources = await PostbackSources.open(data, log);
  const imported = new ImportedClicks(data);
  const refusals = new RefusedConversions(data, log);

  const clickHandler = new ClickHandler({
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
    sink: clicks,
    now,
    onUnknown: (what) => metrics.countUnknown(what),
  });
  const published = (clickId: string) => imported.find(clickId);
  const recorded = await ConversionLog.open(data, conversions, now());
  const completions = await Completions.open(data, recorded, now(), effects.files, log);
  const conversionHandler = new ConversionHandler({
    sources,
    offers: () => (routes.current === undefined ? undefined : { offerOf: (offerId) => routes.route(offerId) }),
    clicks: new KnownClicks(ids, published),
    users: new ClickUsers(data, published),
    conversions: recorded,
    completions,
    refusals,
    replayKey: await makeReplayKey(data),
    now,
    log,
    onRecorded({ conversionId, clickId, kind }, offerId, at) {
      const clicksToday = counts.addConversion({ offerId, clickId, conversionId, kind }, dayNumberOf(at)) ?? 0;
      const cap = routes.route(offerId)?.daily_cap ?? Infinity;
      // The row stays: the user did the work before the cap was reached, or before it was known.
      if (clicksToday > cap) metrics.countOverCap();
    },
  });

  /** The reason why nothing can be recorded or led anywhere now. */
  const unready = () =>
    routes.current === undefined
      ? 'there are no routes yet: run `offerline run refresh`'
      : logs.map((each) => each.refusal(now())).find((refusal) => refusal !== undefined);
  metrics.watch({ logs, routes, isReady: () => unready() === undefined, now });
  const server = createTrackerServer({
    clicks: clickHandler,
    conversions: conversionHandler,
    addressOf: wholeAddresses(settings.trusted_proxies),
    metrics,
    async unready() {
      // A check right after a refresh is to see its routes.
      await polled();
      return unready();
    },
    log,
  });

  const stopping = new AbortController();
  const offerOf = async (clickId: string) => {
    if (!existsSync(data.current)) throw new Error('nothing is published yet');
    return (await imported.find(clickId))?.offerId;
  };
  const lookUpFailure = new RepeatedFailure();
  const countUncounted = once(() =>
    countImported(uncounted, counts, offerOf, stopping.signal).catch((error: Error) => {
      const { message: reason } = error;
      if (lookUpFailure.isNew(reason))
        log.error(
          { clicks: uncounted.size, reason },
          'imported clicks cannot be looked up, so their conversions do not count against caps yet; will retry',
        );
    }),
  );
  const poll = once(async () => {
    await sites.poll();
    await routes.poll();
    await countries.poll();
    await sources.poll();
    // Not awaited: it may take long.
    void countUncounted();
  });
  const tick = async () => {
    await Promise.all(logs.map((each) => each.tick()));
  };
  const logSummary = () => {
    const answered = metrics.takeSummary();
    if (answered !== undefined) log.info(answered, 'answered in the last minute');
  };
  await poll();
  await tick();
  const failed = (what: string) => (error: unknown) => log.error({ err: error }, `${what} failed; will retry`);
  const polled = () => poll().catch(failed('polling for sites, routes, countries and sources'));
  const stops = [
    repeat(() => void polled(), pollMilliseconds),
    repeat(() => void tick().catch(failed('looking after the logs of clicks and conversions')), tickMilliseconds),
    repeat(logSummary, summaryMilliseconds),
  ];

  return {
    poll,
    tick,
    listen: (at) => listenAt(server, at),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      // Clients that wait for an answer now are idle after it.
      const idle = setInterval(() => server.closeIdleConnections(), idleMilliseconds);
      const overdue = setTimeout(() => server.closeAllConnections(), closeMilliseconds);
      await closed;
      clearInterval(idle);
      clearTimeout(overdue);
      for (const stop of stops) stop();
      logSummary();
      for (const each of logs) await each.close();
      await refusals.settled();
      stopping.abort();
      await countUncounted();
      await imported.close();
    },
  };
}

/** A call while the work is under way waits for its end. */
function once(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return () => (underWay ??= work().finally(() => (underWay = undefined)));
}

/** A timer that alone does not keep the process alive. */
function byTimer(task: () => void, milliseconds: number): () => void {
  const timer = setInterval(task, milliseconds).unref();
  return () => clearInterval(timer);
}
