import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { Settings } from '../kit/config/settings.ts';
import { addAccess, clientErrorHandler, frameworkErrors, requireRole } from './access/access.ts';
import { readTls } from './access/safe-listener.ts';
import { UserRegistry } from './access/user-registry.ts';
import { roles, type ConsoleUser } from './access/users.ts';
import { ActionJobs, type ActionJobsOptions } from './actions/jobs.ts';
import { ConsoleError } from './page/console-error.ts';
import { document } from './document.ts';
import { TooSlowError, type ConsoleSnapshot } from './data/console-snapshot.ts';
import { TooBusyError } from './data/one-at-a-time.ts';
import { ConsoleSnapshots } from './data/snapshots.ts';
import { addressText } from '../kit/http/listening-address.ts';
import { Address } from './html/address.ts';
import { html, type Html } from './html/html.ts';
import { LiveDeliveries } from './live/deliveries.ts';
import { HealthWatch } from './live/health.ts';
import { addActionRoutes } from './pages/operations/action-routes.ts';
import { pages } from './pages.ts';
import type { Page } from './page/page.ts';
import { PageRenderer } from './render-page.ts';
import { serveStaticFiles } from './static-files.ts';
import { sendTagged } from './tagged-answer.ts';

export interface ConsoleOptions {
  data: DataDirectory;
  /** With the host that is listened on, wherever it was given. */
  settings: Settings;
  log: Logger;
  /** How the CLI's commands are started, of which all actions are made. */
  launcher: ActionJobsOptions['launcher'];
  now?: () => number;
  /** Calls the task again and again until the function that it returns is called. Default: every second. */
  repeat?: (task: () => void) => () => void;
}

/** The operators' and analysts' pages. They read what is published, and act by commands of their own processes. */
export interface Console {
  /** Starts to listen; returns the address. Port 0 takes a free one. */
  listen(at: { host: string; port: number }): Promise<string>;
  /** A path that lets whoever opens it in, once, within ten minutes. */
  issueLink(): string;
  /** Looks now for a new snapshot, changed users and how all stands. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

const pollMilliseconds = 1_000;
/** Who takes longer to send a request does not mean to. */
const requestMilliseconds = 15_000;
/** How all stands is asked anew so often, and after each publish. */
const healthMilliseconds = 10_000;

/** What stands in the navigation. */
const navigation = pages.flatMap(({ path, navigation: name }) => (name === undefined ? [] : [{ path, name }]));
/** Who looks where nobody has asked yet. */
const nobody: ConsoleUser = { name: 'console', role: 'viewer' };
/**
 * Pages that are asked for most are made before anybody asks, as each role sees them. Of the live ones nothing is kept
 * but what was counted for them.
 */
const madeAtOnce = new Set(['/', '/offers', '/sites', '/postbacks']);

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
    // Ids of clicks have 128 characters, each up to three bytes and those percent-encoded; paths of files more.
    routerOptions: { maxParamLength: 2_000 },
    ...(tls && { https: readTls(tls) }),
  }) as FastifyInstance;
  const snapshots = new ConsoleSnapshots(data, log);
  const health = new HealthWatch(data, settings, log);
  const deliveries = new LiveDeliveries(data, settings);
  const users = new UserRegistry(data.consoleUsersFile, log);
  const renderer = new PageRenderer();
  const jobs = await ActionJobs.open({ data, logger: log, launcher, now });
  let version = '';

  const framed = (title: string, body: Html, path = '', snapshot?: ConsoleSnapshot, user?: FastifyRequest['user']) =>
    document(
      title,
      body,
      version,
      user
        ? {
            navigation,
            path,
            health: health.now,
            now: now(),
            user,
            snapshot: snapshot && { id: snapshot.id, asOf: snapshot.asOf, isCurrent: snapshot === snapshots.current },
          }
        : undefined,
    );
  const access = await addAccess(server, { settings, users, renderPage: (title, body) => framed(title, body), now });
  version = serveStaticFiles(server);

  server.get('/live', requireRole('viewer'), (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .send({ snapshot: snapshots.current?.id ?? null, health: health.now.word }),
  );
  addActionRoutes(server, jobs, (request, { title, body }) =>
    framed(title, body, '/actions', snapshots.current, request.user),
  );
  for (const page of pages) server.get(page.path, async (request, reply) => show(page, request, reply));
  server.setNotFoundHandler((request, reply) => {
    tell(request, reply, new ConsoleError(404, 'There is no such page.'));
  });
  server.setErrorHandler((error, request, reply) => tell(request, reply, error as Error));

  async function show(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    // Nothing that is shown has a name with a NUL, and neither files nor programs can be asked for one.
    if (request.url.includes('%00')) throw new ConsoleError(404, 'There is no such page.');
    const address = Address.of(request.url);
    const wanted = address.get('snapshot');
    return snapshots.use(wanted, (snapshot) => {
      if (snapshot === undefined) throw notThere(wanted);
      return showOn(snapshot, page, address, request, reply);
    });
  }

  async function showOn(
    snapshot: ConsoleSnapshot,
    page: Page,
    address: Address,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const rendered = await renderer.render(page, snapshot, looking(address, request.user ?? nobody, request.params));
    reply.header('cache-control', 'private, no-cache');
    if ('elsewhere' in rendered) return reply.redirect(rendered.elsewhere, 303);
    if ('csv' in rendered) {
      reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${rendered.file}"`);
      return sendTagged(request, reply, rendered.csv);
    }
    reply.type('text/html; charset=utf-8');
    return sendTagged(request, reply, framed(rendered.title, rendered.body, address.path, snapshot, request.user));
  }

  function looking(address: Address, user: ConsoleUser, path: unknown = {}) {
    return {
      path: path as Record<string, string>,
      address,
      user,
      health: health.now,
      deliveries,
      data,
      settings,
      jobs,
      now: now(),
    };
  }

  function tell(request: FastifyRequest, reply: FastifyReply, error: Error): FastifyReply {
    const status = statusOf(error);
    if (status === 500)
      log.error({ request_id: request.id, path: request.routeOptions.url, err: error }, 'a page failed');
    const text =
      status === 500 ? 'Something went wrong on our side; the log of the console tells more.' : error.message;
    if (status === 503) reply.header('retry-after', '1');
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(
        framed(
          `${status}`,
          html`<h1>${status}</h1>
            <p class="error" role="alert">${text}</p>`,
          '',
          undefined,
          request.user,
        ),
      );
  }

  let polling: Promise<void> | undefined;
  const poll = () => (polling ??= look().finally(() => (polling = undefined)));
  async function look(): Promise<void> {
    await users.poll();
    const isNew = await snapshots.poll();
    if (isNew || now() - health.now.lookedAt >= healthMilliseconds) await health.look(now());
    if (isNew) await makePages();
  }
  async function makePages(): Promise<void> {
    const snapshot = snapshots.current;
    if (snapshot === undefined) return;
    for (const page of pages.filter(({ path }) => madeAtOnce.has(path)))
      for (const role of page.live === true ? [nobody.role] : roles)
        await renderer
          .render(page, snapshot, looking(new Address(page.path), { ...nobody, role }))
          .catch((error: unknown) => log.error({ err: error, path: page.path }, 'a page could not be made'));
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
      await jobs.stop();
      await server.close();
      await polling?.catch(() => undefined);
      snapshots.close();
    },
  };
}

function notThere(wanted: string | undefined): ConsoleError {
  return wanted === undefined
    ? new ConsoleError(503, 'Nothing is published yet; `offerline run refresh` publishes a first snapshot.')
    : new ConsoleError(410, `Snapshot ${wanted} is not kept any more; /snapshots has those that are.`);
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
