import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Settings } from '../kit/config/settings.ts';
import { realEffects } from '../kit/files/effects.ts';
import type { Effects } from '../kit/files/effects.ts';
import { UsageError } from '../kit/errors/errors.ts';
import { closeInTime } from '../kit/http/close-in-time.ts';
import { addressText } from '../kit/http/listening-address.ts';
import { Metrics } from '../kit/metrics/metrics.ts';
import { repeatByTimer, type Repeat } from '../kit/time/repeat.ts';
import { SingleFlight } from '../kit/time/single-flight.ts';
import { mayBeWriter } from '../pipeline/runs/storage-role.ts';
import { resendPostback } from '../postbacks/resend-postback.ts';
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
import { PublisherApi, type ServiceState } from './api/publisher-api.ts';
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
  repeat?: Repeat;
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
export async function createService(options: ServiceOptions): Promise<Service> {
  const { data, settings, log, snapshotId, moreMetrics, effects = realEffects, repeat = repeatByTimer } = options;
  const now = () => effects.now();
  const sites = new SiteRegistry(data.sitesFile, log, now);
  let ownAddress: string | undefined;
  const links = linksBySnapshot(options, () => ownAddress as string);
  // The links in an offer's text may name the listening address, so the first snapshot's offers are compiled once it is
  // known.
  const prepare = async (snapshot: PublishedSnapshot) =>
    ownAddress !== undefined ? snapshot.prepareTemplates(preparedTemplates, links(snapshot)) : undefined;
  const follower = new SnapshotFollower(data, log, snapshotId, prepare, now);
  await sites.start();
  const metrics = new Metrics();
  metrics.buildInfo();
  // Limits are opened before the snapshot is read: their errors are then reported at once. Opened after it, they also
  // leave V8 with a `process.nextTick` that takes six times as long (measured); a request makes seven such calls.
  const limits = await openLimits(options, metrics, now);
  try {
    await follower.start();
  } catch (error) {
    // Nobody gets the service, which would close them: a connection to Redis would keep the process.
    limits.close();
    throw error;
  }

  const snapshot = () => follower.serving;
  const pictures = settings.pictures ? new MirroredPictures(data, log) : undefined;
  const orders = ordersOf(options, effects);
  const accessLog = new AccessLog(log, metrics);
  const connections = new Connections(metrics);
  const unsent = new UnsentAnswers(metrics);
  const api = new PublisherApi({ sites, limits, snapshot, links, pictures, orders, now }, settings, metrics);
  const portal = new Portal(api, settings, log);
  measurePulls(metrics, data, now);
  if (pictures !== undefined) measurePictures(metrics, pictures);
  const health = new Health({ settings, snapshot, metrics, moreMetrics, describe: () => server.swagger(), now });
  const fixed = new Map([...health.routes, ...(await documentation())]);
  const publicUrl = settings.public_url;
  const server = await createHttpServer({ api, portal, fixed, accessLog, connections, unsent, log, publicUrl });

  const polls = new SingleFlight(async () => {
    await sites.poll();
    await follower.poll();
  });
  const failed = (error: unknown) => log.error({ err: error }, 'polling for a new snapshot failed; will retry');
  const stopPolling = repeat(() => void polls.run().catch(failed), pollMilliseconds);

  return {
    poll: () => polls.run(),
    async listen({ host, port }) {
      await server.listen({ host, port });
      // Kept: a snapshot may be taken up while the server stops, which has no address any more.
      ownAddress = addressText(server.server.address() as AddressInfo);
      await follower.prepareServing();
      return ownAddress;
    },
    async close() {
      stopPolling();
      await closeInTime(server.server, () => server.close(), { limit: closeMilliseconds });
      await polls.settled();
      await follower.close();
      limits.close();
      pictures?.close();
    },
  };
}

/** Returns the links of a snapshot, made once for each: our own address is known by the first request. */
function linksBySnapshot(
  { settings, trackerAddress }: ServiceOptions,
  ownAddress: () => string,
): (of: PublishedSnapshot) => Links {
  const links = new WeakMap<PublishedSnapshot, Links>();
  const ofTracker = () => addressText({ address: settings.tracker.host, port: settings.tracker.port });
  return (of) => {
    let known = links.get(of);
    if (known === undefined) {
      known = linksOf(settings.tracking_url ?? (trackerAddress ?? ofTracker)(), settings.public_url ?? ownAddress());
      links.set(of, known);
    }
    return known;
  };
}

/** Opens the limits that settings name, else those of this service alone. */
async function openLimits(
  { data, settings: { limits }, log, openSharedLimits }: ServiceOptions,
  metrics: Metrics,
  now: () => number,
): Promise<RequestLimits> {
  if (limits === undefined) return RequestLimits.embedded(data, now(), log);
  if (openSharedLimits === undefined)
    throw new UsageError(
      'limits of offerline.json names Redis, which this program was built without: take "limits" out, or run a whole offerline',
    );
  return openSharedLimits({ data, settings: limits, now, log, metrics });
}

function ordersOf({ data, environment }: ServiceOptions, effects: Pick<Effects, 'now'>): ServiceState['orders'] {
  return {
    resend: (order) => resendPostback(data, order, effects.now(), (url) => mayBeWriter(data, url)),
    async test(site) {
      // Loaded here: most services never send a test.
      const { sendTest } = await import('../postbacks/http/test-postback.ts');
      return sendTest(site, effects, environment);
    },
  };
}

function measurePictures(metrics: Metrics, pictures: MirroredPictures): void {
  metrics.gauge('offerline_picture_cache_bytes', 'Memory held by mirrored pictures.', () => pictures.cached.bytes);
  metrics.gauge(
    'offerline_picture_cache_bytes_limit',
    'Limit of that memory; beyond it the pictures unused for longest are dropped.',
    () => pictures.cached.limit,
  );
}
