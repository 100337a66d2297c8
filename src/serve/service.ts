import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Settings } from '../kit/config/settings.ts';
import { realEffects } from '../kit/files/effects.ts';
import type { Effects } from '../kit/files/effects.ts';
import { UsageError } from '../kit/errors/errors.ts';
import { addressText } from '../kit/http/listening-address.ts';
import { Metrics } from '../kit/metrics/metrics.ts';
import { resendPostback } from '../postbacks/resend-postback.ts';
import type { ResendOrder } from '../postbacks/store/query-store.ts';
import type { Site } from '../kit/sites/sites.ts';
import { MirroredPictures } from '../pictures/mirrored-pictures.ts';
import { Connections } from './server/connections.ts';
import { documentation } from './server/documentation.ts';
import { Health } from './server/health.ts';
import { measurePulls } from './server/pull-metrics.ts';
import { createHttpServer } from './server/http-server.ts';
import { linksOf } from './offers/links.ts';
import type { Links } from './offers/links.ts';
import { SiteRegistry } from '../kit/http/site-registry.ts';
import { AccessLog } from './server/access-log.ts';
import { Portal } from './portal/portal.ts';
import { PublisherApi } from './api/publisher-api.ts';
import type { PublishedSnapshot } from './snapshot/published-snapshot.ts';
import { RequestLimits } from './access/limits.ts';
import { SnapshotFollower } from './snapshot/snapshot-follower.ts';
import { templateB } from './variant-b/offer-template.ts';
import { templateC } from './variant-c/offer-template.ts';
import { reportTemplate } from './variant-c/report-template.ts';
import { UnsentAnswers } from './server/unsent-answers.ts';

/** Opens limits over several servers. Throws `UsageError` where they cannot be used. */
export type OpenSharedLimits = (options: {
  data: DataDirectory;
  settings: NonNullable<Settings['limits']>;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
  metrics: Metrics;
}) => Promise<RequestLimits>;

export interface ServiceOptions {
  data: DataDirectory;
  settings: Settings;
  log: Logger;
  /** Serves this snapshot and no newer one. Default: the current one, and what follows it. */
  snapshotId?: string | undefined;
  /**
   * Address at which a tracker beside us listens, as each snapshot is taken up. Default: where one does by the
   * settings.
   */
  trackerAddress?: () => string;
  /** Needed where `limits` of the settings names Redis. */
  openSharedLimits?: OpenSharedLimits;
  /** Answered by `/metrics` with the service's own: those of the schedule in this process. */
  moreMetrics?: Metrics | undefined;
  /** Variables that decide where postbacks may go. Default: those of the process. */
  environment?: NodeJS.ProcessEnv | undefined;
  effects?: Pick<Effects, 'now'>;
  /** Calls the task again and again until the function that it returns is called. Default: every second. */
  repeat?: (task: () => void) => () => void;
}

/**
 * The HTTP service. It reads published snapshots and `sites.json`, writes to the store of deliveries what a site orders
 * of its postbacks, and never opens the warehouse.
 */
export interface Service {
  /** Starts to listen; returns the address, such as `http://127.0.0.1:8080`. Port 0 takes a free one. */
  listen(at: { host: string; port: number }): Promise<string>;
  /** Looks now for a new snapshot and changed sites, instead of waiting for the next tick. */
  poll(): Promise<void>;
  /** Finishes the answers under way, for ten seconds at most, and stops listening. */
  close(): Promise<void>;
}

/** Templates of pages of whole catalogs. Top-converting lists are short. */
const preparedTemplates = [templateC, templateB, reportTemplate];

/** Milliseconds until a new snapshot or a changed `sites.json` is served. Looking costs two system calls. */
const pollMilliseconds = 1000;

/** Time for clients to take their answers before the process ends without them. */
const closeMilliseconds = 10_000;

/**
 * Prepares a service: reads the sites and the current snapshot. Throws `UsageError` where `sites.json` cannot be used.
 */
export async function createService({
  data,
  settings,
  log,
  snapshotId,
  trackerAddress = () => addressText({ address: settings.tracker.host, port: settings.tracker.port }),
  effects = realEffects,
  openSharedLimits,
  moreMetrics,
  environment,
  repeat = everySecond,
}: ServiceOptions): Promise<Service> {
  const sites = new SiteRegistry(data.sitesFile, log, () => effects.now());
  let ownAddress: string | undefined;
  // The links in an offer's text may name the listening address, so the first snapshot's offers are compiled once it is
  // known.
  const prepare = async (snapshot: PublishedSnapshot) =>
    ownAddress !== undefined ? snapshot.prepareTemplates(preparedTemplates, state.links(snapshot)) : undefined;
  const follower = new SnapshotFollower(data, log, snapshotId, prepare, () => effects.now());
  await sites.start();
  // Limits are opened before the snapshot is read: their errors are then reported at once. Opened after it, they also
  // leave V8 with a `process.nextTick` that takes six times as long (measured); a request makes seven such calls.
  if (settings.limits !== undefined && openSharedLimits === undefined)
    throw new UsageError(
      'limits of offerline.json names Redis, which this program was built without: take "limits" out, or run a whole offerline',
    );
  const metrics = new Metrics();
  metrics.buildInfo();
  const now = () => effects.now();
  const limits =
    (settings.limits && (await openSharedLimits?.({ data, settings: settings.limits, now, log, metrics }))) ??
    RequestLimits.embedded(data, now(), log);
  try {
    await follower.start();
  } catch (error) {
    // Nobody gets the service, which would close them: a connection to Redis would keep the process.
    limits.close();
    throw error;
  }

  const links = new WeakMap<PublishedSnapshot, Links>();
  const snapshot = () => follower.serving;
  const pictures = settings.pictures ? new MirroredPictures(data, log) : undefined;
  const state = {
    sites,
    limits,
    snapshot,
    // Links are made once for each snapshot: our own address is known by the first request and does not change.
    links: (of: PublishedSnapshot) => {
      let known = links.get(of);
      if (known === undefined) {
        known = linksOf(settings.tracking_url ?? trackerAddress(), settings.public_url ?? (ownAddress as string));
        links.set(of, known);
      }
      return known;
    },
    pictures,
    orders: {
      resend: (order: ResendOrder) => resendPostback(data, order, now()),
      test: async (site: Site) => {
        // Loaded here: most services never send a test.
        const { sendTest } = await import('../postbacks/http/test-postback.ts');
        return sendTest(site, effects, environment);
      },
    },
    now,
  };
  const accessLog = new AccessLog(log, metrics);
  const connections = new Connections(metrics);
  const unsent = new UnsentAnswers(metrics);
  const api = new PublisherApi(state, settings, metrics);
  const portal = new Portal(api, settings, log);
  measurePulls(metrics, data, now);
  if (pictures !== undefined) measurePictures(metrics, pictures);
  const health = new Health({ settings, snapshot, metrics, moreMetrics, describe: () => server.swagger(), now });
  const fixed = new Map([...health.routes, ...(await documentation())]);
  const publicUrl = settings.public_url;
  const server = await createHttpServer({ api, portal, fixed, accessLog, connections, unsent, log, publicUrl });

  let looking: Promise<void> | undefined;
  const poll = () => (looking ??= look().finally(() => (looking = undefined)));
  async function look(): Promise<void> {
    await sites.poll();
    await follower.poll();
  }
  const stopPolling = repeat(
    () =>
      void poll().catch((error: unknown) => log.error({ err: error }, 'polling for a new snapshot failed; will retry')),
  );

  return {
    poll,
    async listen({ host, port }) {
      await server.listen({ host, port });
      // Kept: a snapshot may be taken up while the server stops, which has no address any more.
      ownAddress = addressText(server.server.address() as AddressInfo);
      await follower.prepareServing();
      return ownAddress;
    },
    async close() {
      stopPolling();
      const overdue = setTimeout(() => server.server.closeAllConnections(), closeMilliseconds).unref();
      await server.close();
      clearTimeout(overdue);
      await looking?.catch(() => undefined);
      await follower.close();
      limits.close();
      pictures?.close();
    },
  };
}

/** A timer that alone does not keep the process alive. */
function everySecond(task: () => void): () => void {
  const timer = setInterval(task, pollMilliseconds).unref();
  return () => clearInterval(timer);
}

function measurePictures(metrics: Metrics, pictures: MirroredPictures): void {
  metrics.gauge('offerline_picture_cache_bytes', 'Memory held by mirrored pictures.', () => pictures.cached.bytes);
  metrics.gauge(
    'offerline_picture_cache_bytes_limit',
    'Limit of that memory; beyond it the pictures unused for longest are dropped.',
    () => pictures.cached.limit,
  );
}
