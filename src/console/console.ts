import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Settings } from '../kit/config/settings.ts';
import { addressText } from '../kit/http/listening-address.ts';
import { metricsContentType } from '../kit/metrics/metrics.ts';
import { addAccess, clientErrorHandler, frameworkErrors, requireRole } from './access/access.ts';
import { readTls } from './access/safe-listener.ts';
import { UserRegistry } from './access/user-registry.ts';
import { sendHtml } from './access/sign-in.ts';
import type { ConsoleUser } from './access/users.ts';
import { ActionJobs, type ActionJobsOptions } from './actions/jobs.ts';
import { TooSlowError, type ConsoleSnapshot } from './data/console-snapshot.ts';
import { TooBusyError } from './data/serial-queue.ts';
import { SqlBox } from './data/sql-box.ts';
import { ConsoleSnapshots } from './data/snapshots.ts';
import { Address } from './html/address.ts';
import { html, type Html } from '../kit/html/html.ts';
import { FileInspections } from './inspections/inspections.ts';
import { LiveDeliveries } from './live/deliveries.ts';
import { ConsoleMetrics } from './live/console-metrics.ts';
import { HealthMonitor } from './live/health.ts';
import { mcpRoute } from './mcp/mcp-route.ts';
import { document } from './page/document.ts';
import { ConsoleError, type BarePage, type BareRequest, type Page, type PageRequest } from './page/page.ts';
import { PageRenderer } from './page/render-page.ts';
import { sendTagged } from './page/send-tagged.ts';
import { consolePages, navigation } from './pages.ts';
import { offersPage } from './pages/figures/offers.ts';
import { firstPage, overviewPage } from './pages/figures/overview.ts';
import { sitesPage } from './pages/figures/sites.ts';
import { waitingHere } from './pages/figures/waits.ts';
import { addActionRoutes } from './pages/operations/action-routes.ts';
import { postbacksPage } from './pages/operations/postbacks.ts';
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
  /** Calls the task again and again until the function that it returns is called. Default: every second. */
  repeat?: (task: () => void) => () => void;
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
/** The time between two looks for idle connections of a console that stops, and the limit for those with requests. */
const idleMilliseconds = 50;
const closeMilliseconds = 5_000;
/** The time between two health checks; a publish brings one forward. */
const healthMilliseconds = 10_000;

/** The reader of pages that are rendered before anybody requests them. */
const nobody: ConsoleUser = { name: 'console', role: 'viewer' };
/** Analysts get the pages of viewers. */
const rolesAhead = ['viewer', 'operator'] as const;
/**
 * The most requested pages, which are rendered for each role as soon as a snapshot is published. A live page is not
 * cached, but its statements warm up the snapshot and the delivery counts.
 */
const pagesAhead = [overviewPage, offersPage, sitesPage, postbacksPage];

export async function createConsole({
  data,
  settings,
  log,
  launcher,
  now = Date.now,
  repeat = everySecond,
}: ConsoleOptions): Promise<Console> {
  const { tls } = settings.console;
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
  const snapshots = new ConsoleSnapshots(data, log, now);
  const health = new HealthMonitor(data, settings, log);
  const deliveries = new LiveDeliveries(data, settings);
  const sqlBox = new SqlBox();
  const users = new UserRegistry(data.consoleUsersFile, log);
  const renderer = new PageRenderer();
  const jobs = await ActionJobs.open({ data, logger: log, launcher, now });
  const metrics = new ConsoleMetrics({ asOf: () => snapshots.current?.asOf, runningJobs: () => jobs.running, now });
  const inspections = await FileInspections.open(data, launcher);
  let version = '';

  const renderDocument = (
    title: string,
    body: Html,
    user: FastifyRequest['user'] = null,
    path = '',
    snapshot?: ConsoleSnapshot,
  ) => {
    const shown = snapshot && { id: snapshot.id, asOf: snapshot.asOf, isCurrent: snapshot === snapshots.current };
    if (user === null) return document(title, body, version);
    const summary = health.latest;
    // The overview lists all that waits by itself.
    const waiting = path !== '/' && waitingHere(summary.status?.to_do ?? [], path);
    const frame = { navigation, path, health: summary, waiting, now: now(), user, snapshot: shown };
    return document(title, body, version, frame);
  };
  const renderPage = (title: string, body: Html) => renderDocument(title, body);
  const renderBare = ({ title, path }: BarePage, { user }: FastifyRequest, body: Html) =>
    renderDocument(title, body, user, path, snapshots.current);
  const access = await addAccess(server, { settings, users, linkFile: data.consoleLinkFile, renderPage, now });
  version = serveStaticFiles(server);
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
  addActionRoutes(server, jobs, (request, { title, body }) =>
    renderDocument(title, body, request.user, '/actions', snapshots.current),
  );
  for (const page of consolePages)
    server.get(page.path, async (request, reply) =>
      'body' in page
        ? sendHtml(reply, 200, renderBare(page, request, page.body(bareRequest(request.user ?? nobody))))
        : sendPage(page, request, reply),
    );
  server.setNotFoundHandler((request, reply) => {
    sendError(request, reply, new ConsoleError(404, 'There is no such page.'));
  });
  server.setErrorHandler((error, request, reply) => sendError(request, reply, error as Error));
  await server.register(mcpRoute(data, log));
  // A scope of its own takes over the handler of errors that is there.
  await server.register(tryFileRoute(inspections, (request, body) => renderBare(tryFilePage, request, body)));

  async function sendPage(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    // No name has a NUL, and neither files nor processes take one.
    if (request.url.includes('%00')) throw new ConsoleError(404, 'There is no such page.');
    const address = Address.of(request.url);
    const snapshotId = address.get('snapshot');
    return snapshots.use(snapshotId, async (snapshot) => {
      if (snapshot === undefined && page === overviewPage && snapshotId === undefined)
        return sendHtml(
          reply,
          200,
          renderBare(firstPage, request, firstPage.body(bareRequest(request.user ?? nobody))),
        );
      if (snapshot === undefined) throw noSnapshot(address, await snapshots.keptAfter(snapshotId));
      const rendered = await renderer.render(
        page,
        pageRequest(snapshot, address, request.user ?? nobody, request.params as PageRequest['path']),
      );
      reply.header('cache-control', 'private, no-cache');
      if ('redirect' in rendered) return reply.redirect(rendered.redirect, 303);
      if ('csv' in rendered) {
        reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${rendered.file}"`);
        return sendTagged(request, reply, rendered.csv);
      }
      reply.type('text/html; charset=utf-8');
      const { title, body } = rendered;
      return sendTagged(request, reply, renderDocument(title, body, request.user, address.path, snapshot));
    });
  }

  function bareRequest(user: ConsoleUser): BareRequest {
    return { user, health: health.latest, data, settings, now: now() };
  }
  function pageRequest(
    snapshot: ConsoleSnapshot,
    address: Address,
    user: ConsoleUser,
    path: PageRequest['path'] = {},
  ): Omit<PageRequest, 'part'> {
    return { ...bareRequest(user), snapshot, path, address, deliveries, jobs, sqlBox };
  }

  function sendError(request: FastifyRequest, reply: FastifyReply, error: Error): FastifyReply {
    const status = statusOf(error);
    if (status === 500)
      log.error({ request_id: request.id, path: request.routeOptions.url, err: error }, 'page failed; answered 500');
    const text = status === 500 ? 'Internal error. The log of the console has the details.' : error.message;
    if (status === 503) reply.header('retry-after', '1');
    const title =
      status === 400 && request.method !== 'GET'
        ? 'This form cannot be read'
        : (errorTitles[status] ?? (status < 500 ? 'This request is refused' : 'This page failed'));
    const body = html`<h1>${title}</h1>
      <p class="error" role="alert">${sentence(text)}</p>
      ${error instanceof ConsoleError && error.instead !== undefined && html`<p><a href="${error.instead.href}">${error.instead.text}</a></p>`}
      <p><a href="/">Overview</a> <span class="quiet">HTTP ${status}</span></p>`;
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(renderDocument(title, body, request.user, Address.of(request.url).path));
  }

  let polling: Promise<void> | undefined;
  const poll = () => (polling ??= pollOnce().finally(() => (polling = undefined)));
  async function pollOnce(): Promise<void> {
    await users.poll();
    const isNew = await snapshots.poll();
    if (isNew || now() - health.latest.checkedAt >= healthMilliseconds) await health.check(now());
    if (isNew) await renderAhead();
  }
  async function renderAhead(): Promise<void> {
    const snapshot = snapshots.current;
    if (snapshot === undefined) return;
    for (const page of pagesAhead)
      for (const role of page.live === true ? [nobody.role] : rolesAhead)
        await renderer
          .render(page, pageRequest(snapshot, new Address(page.path), { ...nobody, role }))
          .catch((error: unknown) =>
            log.error({ err: error, path: page.path }, 'rendering a page ahead failed; it is rendered on request'),
          );
  }
  const stopPolling = repeat(
    () =>
      void poll().catch((error: unknown) =>
        log.error({ err: error }, 'polling for a new snapshot and users failed; will retry'),
      ),
  );
  await users.start();
  await poll();

  return {
    issueLink: () => access.issueLink(),
    poll,
    async listen(at) {
      await server.listen(at);
      return addressText(server.server.address() as AddressInfo, tls === undefined ? 'http' : 'https');
    },
    async close() {
      stopPolling();
      const inspected = inspections.stop();
      await jobs.stop();
      await closeServer(server);
      await inspected;
      await polling?.catch(() => undefined);
      snapshots.close();
    },
  };
}

/** Ends connections as soon as they are idle, and all after the limit: a browser keeps its own open for a minute. */
async function closeServer(server: FastifyInstance): Promise<void> {
  const idle = setInterval(() => server.server.closeIdleConnections(), idleMilliseconds);
  const overdue = setTimeout(() => server.server.closeAllConnections(), closeMilliseconds);
  try {
    await server.close();
  } finally {
    clearInterval(idle);
    clearTimeout(overdue);
  }
}

/** `kept`: the snapshot that shows nearly the same as the one that the address names. */
function noSnapshot(address: Address, kept: string | undefined): ConsoleError {
  const id = address.get('snapshot');
  if (id === undefined)
    return new ConsoleError(503, 'Nothing is published yet; `offerline run refresh` publishes a first snapshot.');
  const instead =
    kept === undefined
      ? undefined
      : { href: address.with({ snapshot: kept }).href, text: `This page of snapshot ${kept}` };
  return new ConsoleError(410, `Snapshot ${id} is no longer kept; /snapshots lists those that are.`, instead);
}

const errorTitles: Readonly<Record<number, string>> = {
  400: 'This address asks for something that cannot be shown',
  404: 'There is nothing at this address',
  410: 'This snapshot is gone',
  413: 'This is too large',
  429: 'Too many requests',
  503: 'Not at the moment',
};

/** The text of an error with a full stop; it may begin with the name of a parameter. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function statusOf(error: Error & { statusCode?: number }): number {
  if (error instanceof ConsoleError) return error.status;
  if (error instanceof TooBusyError || error instanceof TooSlowError) return 503;
  return error.statusCode !== undefined && error.statusCode < 500 ? error.statusCode : 500;
}

function everySecond(task: () => void): () => void {
  const timer = setInterval(task, pollMilliseconds).unref();
  return () => clearInterval(timer);
}
