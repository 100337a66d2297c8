import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Settings } from '../kit/config/settings.ts';
import type { Html } from '../kit/html/html.ts';
import { closeInTime } from '../kit/http/close-in-time.ts';
import { addressText } from '../kit/http/listening-address.ts';
import { metricsContentType } from '../kit/metrics/metrics.ts';
import { repeatByTimer, type Repeat } from '../kit/time/repeat.ts';
import { SingleFlight } from '../kit/time/single-flight.ts';
import { addAccess, clientErrorHandler, frameworkErrors, requireRole } from './access/access.ts';
import { readTls } from './access/safe-listener.ts';
import { UserRegistry } from './access/user-registry.ts';
import { ActionJobs, type ActionJobsOptions } from './actions/jobs.ts';
import { ConsolePages } from './console-pages.ts';
import { SqlBox } from './data/sql-box.ts';
import { ConsoleSnapshots } from './data/snapshots.ts';
import { FileInspections } from './inspections/inspections.ts';
import { LiveDeliveries } from './live/deliveries.ts';
import { ConsoleMetrics } from './live/console-metrics.ts';
import { HealthMonitor } from './live/health.ts';
import { mcpRoute } from './mcp/mcp-route.ts';
import { addActionRoutes } from './pages/operations/action-routes.ts';
import { tryFilePage } from './pages/operations/try-file.ts';
import { tryFileRoute } from './pages/operations/try-file-route.ts';
import { serveStaticFiles } from './static-files.ts';

export interface ConsoleOptions {
  data: DataDirectory;
  /** The settings; their host may come from the command line. */
  settings: Settings;
  log: Logger;
  /** The command line of the CLI, whose commands are the actions. */
  launcher: ActionJobsOptions['launcher'];
  now?: () => number;
  repeat?: Repeat;
}

/** The operators' and analysts' pages. They read snapshots, and act by starting commands. */
export interface Console {
  /** Starts to listen; returns the address. Port 0 takes a free one. */
  listen(at: { host: string; port: number }): Promise<string>;
  /** Returns the path of a one-time link, which is valid for ten minutes. */
  issueLink(): string;
  /** Checks now for a new snapshot, changed users and the health of the pipeline. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

const pollMilliseconds = 1_000;
/** The limit for receiving the headers of a request, which is also that of a request without a body. */
const headersMilliseconds = 15_000;
/** The limit for receiving a request: a file of 20 MB over a line of 3 Mbit/s. */
const requestMilliseconds = 60_000;
/** How a console stops: a browser keeps its idle connections open for a minute. */
const closing = { idle: 50, limit: 5_000 };
/** The time between two health checks; a publish brings one forward. */
const healthMilliseconds = 10_000;

export async function createConsole({
  data,
  settings,
  log,
  launcher,
  now = Date.now,
  repeat = repeatByTimer,
}: ConsoleOptions): Promise<Console> {
  const { tls } = settings.console;
  const server = consoleServer(tls);
  const snapshots = new ConsoleSnapshots(data, log, now);
  const health = new HealthMonitor(data, settings, log);
  const deliveries = new LiveDeliveries(data, settings);
  const sqlBox = new SqlBox();
  const users = new UserRegistry(data.consoleUsersFile, log);
  const jobs = await ActionJobs.open({ data, logger: log, launcher, now });
  const metrics = new ConsoleMetrics({ asOf: () => snapshots.current?.asOf, runningJobs: () => jobs.running, now });
  const inspections = await FileInspections.open(data, launcher);
  const pages = new ConsolePages({ data, settings, log, snapshots, health, deliveries, jobs, sqlBox, now });

  const renderPage = (title: string, body: Html) => pages.renderDocument(title, body);
  const access = await addAccess(server, { settings, users, linkFile: data.consoleLinkFile, renderPage, now });
  pages.version = serveStaticFiles(server);
  addMachineRoutes(server, { snapshots, health, metrics });
  addActionRoutes(server, jobs, (request, { title, body }) =>
    pages.renderBare({ title, path: '/actions' }, request, body),
  );
  pages.addRoutes(server);
  await server.register(mcpRoute(data, log));
  // A scope of its own takes over the handler of errors that is there.
  await server.register(tryFileRoute(inspections, (request, body) => pages.renderBare(tryFilePage, request, body)));

  const polls = new SingleFlight(async () => {
    await users.poll();
    const isNew = await snapshots.poll();
    if (isNew || now() - health.latest.checkedAt >= healthMilliseconds) await health.check(now());
    if (isNew) await pages.renderAhead();
  });
  const failed = (error: unknown) =>
    log.error({ err: error }, 'polling for a new snapshot and users failed; will retry');
  const stopPolling = repeat(() => void polls.run().catch(failed), pollMilliseconds);
  await users.start();
  await polls.run();

  return {
    issueLink: () => access.issueLink(),
    poll: () => polls.run(),
    async listen(at) {
      await server.listen(at);
      return addressText(server.server.address() as AddressInfo, tls === undefined ? 'http' : 'https');
    },
    async close() {
      stopPolling();
      const inspected = inspections.stop();
      await jobs.stop();
      await closeInTime(server.server, () => server.close(), closing);
      await inspected;
      await polls.settled();
      sqlBox.close();
      snapshots.close();
    },
  };
}

function consoleServer(tls: Settings['console']['tls']): FastifyInstance {
  const server = fastify({
    logger: false,
    frameworkErrors,
    clientErrorHandler,
    requestTimeout: requestMilliseconds,
    // A click id has up to 128 characters of up to three bytes, all percent-encoded; a path of a file may be longer.
    routerOptions: { maxParamLength: 2_000 },
    ...(tls && { https: readTls(tls) }),
  }) as FastifyInstance;
  server.server.headersTimeout = headersMilliseconds;
  return server;
}

/** Adds `/live`, which open pages ask again and again, and `/metrics` with a count of all answers. */
function addMachineRoutes(
  server: FastifyInstance,
  { snapshots, health, metrics }: { snapshots: ConsoleSnapshots; health: HealthMonitor; metrics: ConsoleMetrics },
): void {
  server.addHook('onResponse', (request, reply, done) => {
    metrics.add(request, reply);
    done();
  });
  server.get('/live', requireRole('viewer'), (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .send({ snapshot: snapshots.current?.id ?? null, health: health.latest.word }),
  );
  server.get('/metrics', requireRole('machine'), async (_request, reply) =>
    reply
      .type(metricsContentType)
      .header('cache-control', 'no-store')
      .send(await metrics.metrics.text()),
  );
}
